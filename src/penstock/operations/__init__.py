"""The words between the kernel and engines: reads, writes, conditions, updates; and the checks of what is sent."""
