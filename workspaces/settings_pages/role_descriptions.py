"""What the page of members says about each role."""

from __future__ import annotations

from workspaces.models import Membership

ROLE_DESCRIPTIONS = {
    Membership.VIEWER: "Reads every page except those of the settings, and uses the inspector",
    Membership.EDITOR: (
        "Also sets rules, acknowledges and mutes drift, moves broken joins, decides confirmations, adds annotations "
        "and shares pages"
    ),
    Membership.ADMIN: (
        "Also manages keys, secrets, environments, members, alerts and retention, deletes data, and reads refused "
        "requests and the audit log"
    ),
}
