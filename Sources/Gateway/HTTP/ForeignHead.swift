package import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Keeps the head of an answer that another server wrote unchanged.
///
/// The web framework writes `Date` and `Server` into every answer, and the gateway its identifier of the call. A foreign head has fields of these names of its
/// own, or none. They pass the framework under other names, and `ForeignHeadHandler` restores them when the head leaves.
package enum ForeignHead {
    private static let marker = HTTPField.Name("x-push-gateway-foreign")
    private static let prefix = "x-push-gateway-kept-"
    /// Fields that the gateway writes into its own answers.
    private static let ownNames = ["date", "server", "x-request-id"]
    /// Their usual spellings, with the names under which these pass: making a name copies and checks each of its bytes, and nearly every answer has two of them.
    private static let usual: [(own: HTTPField.Name, kept: HTTPField.Name)] =
        ["Date", "date", "Server", "server", "X-Request-Id", "X-Request-ID", "x-request-id"].compactMap { spelling in
            guard let own = HTTPField.Name(spelling), let kept = HTTPField.Name(prefix + spelling) else { return nil }
            return (own, kept)
        }

    /// The fields of a foreign head in the form in which they pass the framework. The first one marks them.
    package static func kept(_ fields: HTTPFields) -> HTTPFields {
        guard let marker else { return fields }
        var kept = HTTPFields()
        // The framework appends three.
        kept.reserveCapacity(fields.count + 4)
        kept.append(HTTPField(name: marker, value: "1"))
        for field in fields where field.name != marker && !isKept(field.name) {
            if isOwn(field.name), let name = keptName(field.name) {
                kept.append(HTTPField(name: name, value: field.value))
            } else {
                kept.append(field)
            }
        }
        return kept
    }

    /// The fields as the other server wrote them; nil for an answer of the gateway's own.
    static func restored(_ fields: HTTPFields) -> HTTPFields? {
        // Others append their fields.
        guard let marker, fields.first?.name == marker else { return nil }
        var restored = HTTPFields()
        restored.reserveCapacity(fields.count)
        for field in fields where field.name != marker && !isOwn(field.name) {
            if isKept(field.name), let name = ownName(field.name) {
                restored.append(HTTPField(name: name, value: field.value))
            } else {
                restored.append(field)
            }
        }
        return restored
    }

    private static func isOwn(_ name: HTTPField.Name) -> Bool { ownNames.contains(name.canonicalName) }

    private static func isKept(_ name: HTTPField.Name) -> Bool { name.canonicalName.hasPrefix(prefix) }

    private static func keptName(_ name: HTTPField.Name) -> HTTPField.Name? {
        usual.first { $0.own.rawName == name.rawName }?.kept ?? HTTPField.Name(prefix + name.rawName)
    }

    private static func ownName(_ name: HTTPField.Name) -> HTTPField.Name? {
        usual.first { $0.kept.rawName == name.rawName }?.own
            ?? HTTPField.Name(String(decoding: name.rawName.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
    }
}

/// Restores foreign heads behind the web framework.
final class ForeignHeadHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let fields = ForeignHead.restored(head.headerFields) else {
            return context.write(data, promise: promise)
        }
        head.headerFields = fields
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
