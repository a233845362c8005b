"""When and how fast jobs run: schedules, capacity, breakers, rates and concurrency."""
