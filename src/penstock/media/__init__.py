"""What is known about media files, for every domain that has some: reading, judging, making them."""
