"""Which scheme each parameter takes (SACP), from what an exchange costs on the links there are."""
