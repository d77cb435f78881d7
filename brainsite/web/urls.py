"""The pages of people in the browser."""

from django.urls import path

from brainsite.web import views

urlpatterns = [
    path("", views.home, name="home"),
    path("login/", views.SignIn.as_view(), name="login"),
    path("logout/", views.SignOut.as_view(), name="logout"),
    # a slug, or a uuid: both are letters, digits and hyphens
    path("m/<slug:ref>/", views.memory_page, name="memory"),
    path("m/<slug:ref>/delete/", views.delete, name="delete"),
    path("tree/", views.tree_page, name="tree"),
    path("n/<uuid:node_id>/", views.node_page, name="node"),
    path("trash/", views.trash_page, name="trash"),
    path("trash/<slug:ref>/restore/", views.restore, name="restore"),
]
