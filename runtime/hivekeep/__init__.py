"""hivekeep: memory and control plane that several agents of one machine share."""

__version__ = "0.1.0"
