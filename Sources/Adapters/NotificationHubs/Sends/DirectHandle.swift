import Model

/// Stores a handle without an installation so that a direct send finds it (docs/contracts/notificationhubs.md#7.2,
/// docs/contracts/notificationhubs.md#7.4): as an identity without tags and templates, which is selected only by its handle and expires.
enum DirectHandle {
    /// Keys of installations and registrations do not have this prefix.
    private static let prefix = "h/"

    static func isKey(_ key: VendorDeviceKey) -> Bool { key.rawValue.hasPrefix(prefix) }

    /// Registers those of `handles` that are unknown. The others are unchanged.
    static func introduction(of handles: [DeviceToken], _ settings: HubsSettings, at now: Timestamp) -> [Command] {
        stride(from: 0, to: handles.count, by: HubsLimits.handlesPerCommand).map { start in
            let part = handles[start..<min(handles.count, start + HubsLimits.handlesPerCommand)]
            let devices = part.map { registration($0, settings, at: now) }
            return .user(.track(UserBatch(patches: [UserPatch(user: nil, devices: devices)])))
        }
    }

    private static func registration(_ handle: DeviceToken, _ settings: HubsSettings, at now: Timestamp)
        -> DeviceRegistration
    {
        var attributes = JSONObject()
        attributes[DeviceRegistration.sharingAttribute] = true
        attributes[DeviceRegistration.endAttribute] = .int((now + HubsLimits.handleTime).seconds)
        return DeviceRegistration(
            key: VendorDeviceKey(prefix + handle.text),
            platform: .ios,
            environment: settings.environment,
            token: handle,
            attributes: attributes,
            // Excludes the handle from sends to everyone.
            tags: [Tag(Platform.ios), .onlyVariants]
        )
    }
}
