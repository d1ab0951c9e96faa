Notification Hubs: the back end of the vendor's two tutorials (`/api/register`, `/api/notifications`), with users of a binding and rich pushes that show an image.
