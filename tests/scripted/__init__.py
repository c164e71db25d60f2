"""A model server that plays the part of a good model, for runs of the shipped pipelines that never differ."""

import pytest

pytest.register_assert_rewrite("tests.scripted.in_the_workbench")
