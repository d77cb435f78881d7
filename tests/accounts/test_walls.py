import pytest
from django.db import connections
from accounts.startup import unsafe_login
from accounts.walls import catalogue

@pytest.mark.django_db(transaction=True, databases=["default","agent","migrator"])
def test_x():
    assert unsafe_login("default") == []
    assert unsafe_login("agent") == []
    assert unsafe_login("migrator") != []
    print(catalogue()); print(len(catalogue().splitlines()))
