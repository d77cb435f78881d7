"""The system checks of the doors notice what they are for."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.sites import AdminSite, all_sites
from django.test import override_settings

from accounts.models import Brain, Organization
from brainsite.admin_site import BrainAdminSite, ScopedAdmin
from brainsite.checks import check_secrets, unscoped_admins
from graph.models import Node

ROOT = Path(__file__).resolve().parents[2]


def codes(site: AdminSite) -> list[str]:
    all_sites.discard(site)  # it is no part of the product, and other tests check all there are
    return [str(error.id) for error in unscoped_admins([site])]


class NodesInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Node


class BrainWithNodes(admin.ModelAdmin):  # type: ignore[type-arg]
    inlines = (NodesInline,)


@pytest.mark.parametrize(
    ("site", "model", "admin_class", "expected"),
    [
        (BrainAdminSite, Node, ScopedAdmin, []),
        (BrainAdminSite, Organization, admin.ModelAdmin, []),
        (BrainAdminSite, Node, admin.ModelAdmin, ["brain.E401"]),
        (AdminSite, Node, ScopedAdmin, ["brain.E402"]),
        (BrainAdminSite, Brain, BrainWithNodes, ["brain.E403"]),
    ],
)
def test_an_admin_that_is_not_scoped_is_noticed(site: Any, model: Any, admin_class: Any, expected: list[str]) -> None:
    made = site(name="made")
    made.register(model, admin_class)

    assert codes(made) == expected


@pytest.mark.parametrize(
    ("secrets", "expected"),
    [
        ({"SECRET_KEY": "x" * 50, "KEY_PEPPER": "y"}, []),
        ({"SECRET_KEY": "unset-" + "0" * 44, "KEY_PEPPER": "y"}, ["brain.E404"]),
        ({"SECRET_KEY": "x" * 50, "KEY_PEPPER": ""}, ["brain.E405"]),
    ],
)
def test_missing_secrets_are_noticed(secrets: dict[str, str], expected: list[str]) -> None:
    with override_settings(**secrets):
        assert [error.id for error in check_secrets(None)] == expected


def test_a_server_behind_tls_passes_the_deploy_checks() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=os.environ | {"BRAIN_PUBLIC_URL": "https://brain.example.test"},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "System check identified no issues (0 silenced).\n", "")
