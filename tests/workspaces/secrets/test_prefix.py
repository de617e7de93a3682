"""A signing secret is found by its first characters."""

import pytest

from wire.errors import InvalidRequest, NotFound
from workspaces.secrets.prefix import find_secret

pytestmark = pytest.mark.django_db


def test_a_secret_is_found_by_its_first_characters(workspace, other_workspace):
    shop = workspace.workspace
    assert find_secret(workspace.signing_secret[:8]).workspace == shop
    with pytest.raises(NotFound):
        find_secret("gas_~~~~")
    with pytest.raises(InvalidRequest, match="6 to 8"):
        find_secret("gas_")
    shop.signing_secrets.update(prefix="gas_same")
    other_workspace.workspace.signing_secrets.update(prefix="gas_same")
    with pytest.raises(InvalidRequest, match=r"gas_same \(lumen-books\)"):
        find_secret("gas_same")
