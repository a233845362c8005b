"""What a user declares and hands over: tasks, their payloads and handles."""
