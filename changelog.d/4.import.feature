`devices import|export` and `POST /v1/imports` support `tags`. Imports write new devices as sets of 4,000, and find a row that the database refuses by bisection.
