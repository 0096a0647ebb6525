"""How the gradient of one parameter becomes the joint one: all-reduce, sharded, SFB, sf-push."""
