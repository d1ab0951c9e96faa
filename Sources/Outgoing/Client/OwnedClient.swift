package import AsyncHTTPClient

/// A client that shuts down when nothing uses it any more. The library stops a program in which a client ends otherwise, for example one whose call failed.
package final class OwnedClient: Sendable {
    package let client: HTTPClient

    package init(_ client: HTTPClient) { self.client = client }

    deinit {
        Task { [client] in try? await client.shutdown() }
    }
}
