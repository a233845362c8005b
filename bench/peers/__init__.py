"""Other queues on the same work. Their modules import them, and nothing of Ferryman."""
