Notification Hubs: registrations as Atom, with new ids, versions, and lists by channel, tag and page. Several registrations may share one device, and the older SDKs for iOS work.
