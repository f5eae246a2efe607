"""Evolution: how the records of a store follow a declaration that has changed, while everybody goes on."""
