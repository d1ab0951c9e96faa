`devices import|export` and `POST /v1/imports` know `tags`; imports of new devices are written 4,000 at a time as sets, and a row the database refuses is found by halves.
