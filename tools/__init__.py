"""Machines that build and check the repository; the server never imports them."""
