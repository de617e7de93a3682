from django.db import models


class IdempotentAnswer(models.Model):
    """The 2xx answer kept for one Idempotency-Key, written in the transaction of the request (contract §1).

    body_digest: the keyed hash of the SHA-256 of the request's body.
    """

    workspace_id = models.CharField(max_length=40)
    endpoint = models.CharField(max_length=120)
    key = models.CharField(max_length=255)
    body_digest = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    encrypted = models.BooleanField(default=False)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "endpoint", "key"], name="one_answer_per_idempotency_key")
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.expires_at:%Y-%m-%d %H:%M}"
