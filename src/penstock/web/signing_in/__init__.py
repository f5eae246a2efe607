"""Signing in with a browser: the routes of a session, and the cookie that is one."""
