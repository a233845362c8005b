-- Opens a transaction whose every statement sees what was committed before it.
BEGIN ISOLATION LEVEL READ COMMITTED
