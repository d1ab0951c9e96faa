import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import NIOConcurrencyHelpers
import NIOHTTP1

/// Requests without their fields and bodies, by method and URL. The client reads a URL in several passes, and most calls go to few URLs.
final class RequestForms: Sendable {
    private struct Key: Hashable {
        var method: String
        var url: String
    }

    /// 256 requests. Above this number, all are removed.
    private static let limit = 256
    /// 256 bytes: a longer URL mostly differs from call to call.
    private static let keptLength = 256

    private let forms = NIOLockedValueBox<[Key: HTTPClient.Request]>([:])

    /// The request for a target of a server, without fields and body. Its URL is the text that was asked for: the client would escape other characters, and
    /// leave out a fragment.
    ///
    /// A target with a query is not kept, because a query may contain a secret.
    func form(of request: OutgoingRequest, to server: OutgoingServer) throws(OutgoingError) -> HTTPClient.Request {
        let target = request.target.utf8
        // The slash ends the authority, so that equal URLs have the same host.
        guard target.first == UInt8(ascii: "/"), !target.contains(UInt8(ascii: "#")) else { throw .invalid }
        let key = Key(method: request.method.rawValue, url: server.base + request.target)
        let isKept = key.url.utf8.count <= Self.keptLength && !target.contains(UInt8(ascii: "?"))
        if isKept, let form = forms.withLockedValue({ $0[key] }) { return form }
        guard let form = try? HTTPClient.Request(url: key.url, method: HTTPMethod(rawValue: key.method)),
            form.host == server.url.host || form.host == "[\(server.url.host)]", form.url.absoluteString == key.url
        else { throw .invalid }
        if isKept {
            forms.withLockedValue { forms in
                if forms.count >= Self.limit { forms.removeAll(keepingCapacity: true) }
                forms[key] = form
            }
        }
        return form
    }
}
