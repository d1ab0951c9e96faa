A message that is composed in the console, and a template, can be urgent.
