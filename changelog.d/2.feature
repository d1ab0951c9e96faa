The gateway serves RationalOwl UMS apps and back ends end to end: registration, sending, receipts, history, images and tracking callbacks.
