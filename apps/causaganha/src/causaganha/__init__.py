"""CausaGanha: lawyers rated by the decisions that the court gazette of Rondônia prints."""
