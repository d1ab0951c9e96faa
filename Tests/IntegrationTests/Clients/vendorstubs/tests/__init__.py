"""Tests of the stubs and of the scripted clients. README.md names the command that runs them."""
