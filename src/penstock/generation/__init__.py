"""What is generated elsewhere or here: the ports of generative steps, and the adapters to services elsewhere."""
