/// The name by which a caller identifies one addressee.
package enum Address: Sendable, Hashable {
    /// Digits, national form.
    case phone(String)
    /// The vendor's own device key.
    case deviceKey(VendorDeviceKey)
    case user(UserID)
    /// The gateway's own device id (native API).
    case device(DeviceID)

    /// A stable text of kind and value. The target id of an address without a device is derived from it.
    package var canonical: String {
        switch self {
        case .phone(let phone): "phone:\(phone)"
        case .deviceKey(let key): "key:\(key)"
        case .user(let user): "user:\(user)"
        case .device(let device): "device:\(device)"
        }
    }

    /// Parses the form of `canonical`.
    package init?(canonical: String) {
        guard let colon = canonical.firstIndex(of: ":") else { return nil }
        let value = String(canonical[canonical.index(after: colon)...])
        switch canonical[..<colon] {
        case "phone": self = .phone(value)
        case "key": self = .deviceKey(VendorDeviceKey(value))
        case "user": self = .user(UserID(value))
        case "device":
            guard let id = DeviceID(text: value) else { return nil }
            self = .device(id)
        default: return nil
        }
    }
}
