package import Model

/// A line of `/users/export/segment`: one user with the push tokens of all its devices. The export names neither the environment of a token nor, mostly, its device.
struct SegmentExport {
    private let user: JSONObject

    /// - Throws: `ExportFault`.
    init(_ line: [UInt8]) throws(ExportFault) {
        let json: JSON
        do throws(JSONError) {
            json = try JSONParser.parse(line)
        } catch {
            throw ExportFault("is not JSON: \(error.what)")
        }
        guard let user = json.object else { throw ExportFault("is not a JSON object") }
        self.user = user
    }

    /// The devices of the user, one for each token of a supported platform.
    ///
    /// - Throws: `ExportFault` that names the field.
    func devices(_ terms: ExportTerms) throws(ExportFault) -> [DeviceRegistration] {
        let tokens = try list("push_tokens")
        guard tokens.count <= BrazeLimits.tokenCount else {
            throw ExportFault("push_tokens: has more than \(BrazeLimits.tokenCount) tokens")
        }
        let id = try text(user["external_id"], "external_id").map { UserID($0) }
        let isOptedOut = try text(user["push_subscribe"], "push_subscribe").map { $0 == "unsubscribed" }
        let zone = try text(user["time_zone"], "time_zone").flatMap { TimeZoneName($0) }
        var devices: [DeviceRegistration] = []
        for entry in tokens {
            guard let fields = entry.object else { throw ExportFault("push_tokens: must contain objects") }
            let app = try text(fields["app"], "app")
            if let wanted = terms.app, app != wanted { continue }
            guard var device = try device(fields) else { continue }
            device.environment = terms.environment
            device.user = id
            // A zone that this machine does not know costs the time zone, not the device.
            if let zone, zone.isKnown { device.clock = DeviceClock(timeZone: zone) }
            device.client.set(.appVersion, try version(of: app, device.platform))
            let isEnabled = fields["notifications_enabled"]?.bool
            if isOptedOut != nil || isEnabled != nil {
                device.imported.acceptsPush = isOptedOut != true && isEnabled != false
            }
            devices.append(device)
        }
        return devices
    }

    /// Nil for a platform that is not supported, such as the web.
    private func device(_ fields: JSONObject) throws(ExportFault) -> DeviceRegistration? {
        let platform: Platform
        switch try text(fields["platform"], "platform")?.lowercased() {
        case "ios": platform = .ios
        case "android": platform = .android
        default: return nil
        }
        guard let text = fields["token"]?.string,
            let token = platform == .ios ? DeviceToken(apns: text) : DeviceToken(fcm: text)
        else { throw ExportFault("token: is not a token of that platform") }
        let id = try self.text(fields["device_id"], "device_id")
        return DeviceRegistration(key: id.map { VendorDeviceKey($0) }, platform: platform, token: token)
    }

    /// The version of the app, if the export states it.
    private func version(of app: String?, _ platform: Platform) throws(ExportFault) -> String? {
        for entry in try list("apps").prefix(BrazeLimits.tokenCount) where entry["name"]?.string == app {
            if let name = entry["platform"]?.string, name.lowercased() != platform.rawValue { continue }
            return entry["version"]?.string
        }
        return nil
    }

    private func list(_ field: String) throws(ExportFault) -> [JSON] {
        switch user[field] {
        case nil, .null?: return []
        case .array(let list)?: return list
        default: throw ExportFault("\(field): must be a list")
        }
    }

    /// A text; nil if it is absent or empty.
    private func text(_ value: JSON?, _ field: String) throws(ExportFault) -> String? {
        switch value {
        case nil, .null?: return nil
        case .string(let text)?, .number(let text)?: return text.isEmpty ? nil : text
        default: throw ExportFault("\(field): must be text")
        }
    }
}

extension BrazeAdapter: ExportReading {
    package func registrations(inExport line: [UInt8], _ terms: ExportTerms) throws(ExportFault) -> [Command] {
        try SegmentExport(line).devices(terms).map { .registration(.register($0)) }
    }
}
