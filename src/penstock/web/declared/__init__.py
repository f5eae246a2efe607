"""What a client must know of a declaration to draw it: lists, forms, states, links; and what its own key may do."""
