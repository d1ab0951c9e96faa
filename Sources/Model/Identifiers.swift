package import FoundationEssentials

/// A wrapped text identifier. The wrapper prevents passing a tenant's name in place of an app's.
package protocol TextIdentifier: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible,
    ExpressibleByStringLiteral
where RawValue == String {
    init(rawValue: String)
}

extension TextIdentifier {
    package init(_ rawValue: String) { self.init(rawValue: rawValue) }
    package init(stringLiteral value: String) { self.init(rawValue: value) }
    package var description: String { rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The unit of isolation, credentials, keys and quotas.
package struct TenantID: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// One product of a tenant on all its platforms. Unique within its tenant.
package struct AppID: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// One set of keys for a transport, from the provisioning file. Unique within its tenant.
package struct CredentialID: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A dialect: the SDK to which an identity belongs, or the API by which a message was sent.
package struct Vendor: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let native: Vendor = "native"
    package static let rationalOwl: Vendor = "rationalowl"
    package static let upmc: Vendor = "upmc"
    package static let ipns: Vendor = "ipns"
    package static let braze: Vendor = "braze"
    package static let notificationHubs: Vendor = "notificationhubs"
}

/// The key by which a vendor identifies one device: `dRId`, installation id … Opaque, at most 128 bytes, unique within (app, vendor).
package struct VendorDeviceKey: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// The user's id in the vendor's dialect. Scoped to (app, vendor).
package struct UserID: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A back end that must register with its vendor before it may send (RationalOwl: `serverRegId`). Unique within an app.
package struct SenderID: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A named set of users. Unique within (app, vendor), at most 128 bytes.
package struct GroupName: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// One running gateway process, new at every start.
package struct NodeID: TextIdentifier {
    package var rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A wrapped UUID. Its text is lower-case.
package protocol UUIDIdentifier: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible
where RawValue == UUID {
    init(rawValue: UUID)
}

extension UUIDIdentifier {
    package init(_ rawValue: UUID) { self.init(rawValue: rawValue) }

    /// The identifier that `text` spells in the canonical 8-4-4-4-12 form, either case.
    package init?(text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.init(rawValue: uuid)
    }

    package var description: String { rawValue.lowercased }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// One installation of one app on one platform and environment.
package struct DeviceID: UUIDIdentifier {
    package var rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

/// One subscription to a tenant's events.
package struct WebhookID: UUIDIdentifier {
    package var rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

/// One identity: the registration of a device in the dialect of one vendor.
package struct IdentityID: UUIDIdentifier {
    package var rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

/// One message. A UUIDv7: its random bits make it a capability; its time, at which the message is due, determines its place in histories.
package struct MessageID: UUIDIdentifier {
    package var rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

extension MessageID {
    /// The smallest id of a moment. Ids are ordered by the times at which their messages are due.
    package static func first(at time: Timestamp) -> MessageID? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let milliseconds = UInt64(clamping: time.milliseconds)
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> UInt64(8 * (5 - index))) }
        bytes[6] = 0x70
        bytes[8] = 0x80
        return UUID(bytes: bytes).map { MessageID($0) }
    }

    /// The moment that the id contains.
    package var time: Timestamp {
        Timestamp(milliseconds: rawValue.bytes.prefix(6).reduce(Int64(0)) { $0 << 8 | Int64($1) })
    }
}

/// One addressee of one message: the id of an identity or, for an address without a device, a UUIDv5 of the address.
package struct TargetID: UUIDIdentifier {
    package var rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

extension TargetID {
    package init(_ identity: IdentityID) { self.init(rawValue: identity.rawValue) }
}

extension UUID {
    /// The canonical lower-case text, which all wire formats here require. Foundation formats `uuidString` with printf.
    package var lowercased: String { HexCoding.encode(bytes, isUUID: true) }

    /// The sixteen bytes, in the order of the text.
    package var bytes: [UInt8] {
        let u = uuid
        return [u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15]
    }

    /// The UUID of sixteen bytes; nil for any other number of bytes.
    package init?(bytes b: [UInt8]) {
        guard b.count == 16 else { return nil }
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            )
        )
    }

    /// A version 7 UUID (RFC 9562 §5.7): 48 bits of milliseconds, 74 bits of randomness.
    package static func v7(at time: Timestamp, using random: inout some RandomNumberGenerator) -> UUID {
        let milliseconds = UInt64(clamping: time.milliseconds)
        let high: UInt64 = random.next()
        let low: UInt64 = random.next()
        func byte(_ value: UInt64, _ shift: Int) -> UInt8 { UInt8(truncatingIfNeeded: value >> UInt64(shift)) }
        return UUID(
            uuid: (
                byte(milliseconds, 40), byte(milliseconds, 32), byte(milliseconds, 24), byte(milliseconds, 16),
                byte(milliseconds, 8), byte(milliseconds, 0),
                0x70 | byte(high, 0) & 0x0F, byte(high, 8),
                0x80 | byte(high, 16) & 0x3F, byte(high, 24), byte(low, 0), byte(low, 8), byte(low, 16), byte(low, 24),
                byte(low, 32), byte(low, 40)
            )
        )
    }
}
