"""How often somebody may guess a password or a link, from one address (`ip`) or for one account (`key`).

allauth counts the attempts; ACCOUNT_RATE_LIMITS is its setting. Other limits are its defaults.
"""

ACCOUNT_MINUTES = 5
ACCOUNT_RATE_LIMITS = {"login_failed": f"10/m/ip,10/{ACCOUNT_MINUTES}m/key", "link": "20/m/ip"}
