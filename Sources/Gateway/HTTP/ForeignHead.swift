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
    private static let ownNames: Set<String> = ["date", "server", "x-request-id"]

    /// The fields of a foreign head in the form in which they pass the framework. The first one marks them.
    package static func kept(_ fields: HTTPFields) -> HTTPFields {
        guard let marker else { return fields }
        var kept = HTTPFields()
        kept.append(HTTPField(name: marker, value: "1"))
        for field in fields where field.name != marker && !field.name.canonicalName.hasPrefix(prefix) {
            if ownNames.contains(field.name.canonicalName), let name = HTTPField.Name(prefix + field.name.rawName) {
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
        for field in fields where field.name != marker && !ownNames.contains(field.name.canonicalName) {
            if field.name.canonicalName.hasPrefix(prefix),
                let name = HTTPField.Name(String(field.name.rawName.dropFirst(prefix.utf8.count)))
            {
                restored.append(HTTPField(name: name, value: field.value))
            } else {
                restored.append(field)
            }
        }
        return restored
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
