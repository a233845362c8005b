"""What every front end calls: reads in `insights`, acts in `control`, shapes in `presentation`."""
