"""The shape of a card in every protocol version, and the rules about cards."""
