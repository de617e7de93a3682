"""What `affidavit.contrib.django` is made of."""
