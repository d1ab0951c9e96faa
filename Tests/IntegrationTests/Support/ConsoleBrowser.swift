import AsyncHTTPClient
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing
import WebConsole

/// A browser for tests of the console: it keeps cookies, follows nothing by itself, and states its origin as browsers do.
final class ConsoleBrowser {
    struct Answer {
        var status: Int
        var text: String
        var headers: HTTPHeaders

        var location: String? { headers.first(name: "location") }

        /// The token of the first form of the page.
        var token: String? { Self.first(in: text, after: #"name="_token" value=""#) }

        /// The text between `start` and the next quotation mark.
        static func first(in text: String, after start: String) -> String? {
            guard let range = text.firstRange(of: start) else { return nil }
            return String(text[range.upperBound...].prefix { $0 != "\"" })
        }
    }

    let base: String
    private let client: HTTPClient
    private(set) var cookies: [String: String] = [:]

    init(_ base: String, _ client: HTTPClient) {
        self.base = base
        self.client = client
    }

    /// Runs `body` with a client that follows no redirections.
    static func with(_ base: String, _ body: (_ browser: () -> ConsoleBrowser) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        try await closing {
            try await client.shutdown()
        } after: {
            try await body { ConsoleBrowser(base, client) }
        }
    }

    func set(_ cookie: String, _ value: String?) { cookies[cookie] = value }

    func get(_ path: String, headers: [(String, String)] = []) async throws -> Answer {
        try await send(.GET, path, [], headers)
    }

    /// Sends a form. `origin` nil: no header, as from a program.
    func post(
        _ path: String,
        _ fields: [(String, String)],
        origin: String? = "own",
        headers: [(String, String)] = []
    ) async throws -> Answer {
        let pairs = fields.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }
        var headers = headers
        if let origin { headers.append(("origin", origin == "own" ? base : origin)) }
        headers.append(("content-type", "application/x-www-form-urlencoded"))
        return try await send(.POST, path, Array(pairs.joined(separator: "&").utf8), headers)
    }

    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: [UInt8],
        _ headers: [(String, String)]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !cookies.isEmpty { request.headers.add(name: "cookie", value: cookieText) }
        if method == .POST { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 8 << 20)
        for cookie in response.headers["set-cookie"] {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            cookies[String(pair[0])] = cookie.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return Answer(
            status: Int(response.status.code),
            text: String(buffer: bytes),
            headers: response.headers
        )
    }

    /// Opens the stream of a page, runs `body` while it is open, and returns everything that it sends until the gateway ends it.
    ///
    /// - Throws: when it is open for more than a minute.
    func stream(_ page: String, in tenant: String, _ body: () async throws -> Void) async throws -> String {
        let response = try await opened(page, in: tenant, after: nil)
        try await body()
        return String(buffer: try await response.body.collect(upTo: 8 << 20))
    }

    /// Opens the stream of a page as a browser does after a lost connection, reads it until it has sent a text, and leaves it.
    ///
    /// - Returns: what the stream has sent; without the text if it has ended before.
    func follow(
        _ page: String,
        in tenant: String,
        after lastEventID: String? = nil,
        until text: String
    ) async throws -> String {
        let response = try await opened(page, in: tenant, after: lastEventID)
        var sent = ByteBuffer()
        for try await part in response.body {
            sent.writeImmutableBuffer(part)
            let shown = String(buffer: sent)
            // A part of the page arrives in several pieces, the newest row first.
            if shown.contains(text), shown.hasSuffix("\n\n") { break }
        }
        return String(buffer: sent)
    }

    private func opened(
        _ page: String,
        in tenant: String,
        after lastEventID: String?
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(
            url: base + ConsolePaths.stream(tenant) + "?page=" + PercentCoding.encode("/" + page)
        )
        request.headers.add(name: "cookie", value: cookieText)
        if let lastEventID { request.headers.add(name: "last-event-id", value: lastEventID) }
        let response = try await client.execute(request, timeout: .seconds(60))
        try #require(response.status == .ok, "\(response.status)")
        return response
    }

    private var cookieText: String {
        cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    }

    // MARK: Signing in

    /// Opens a page and sends its form with its token.
    func submit(_ page: String, to path: String, _ fields: [(String, String)]) async throws -> Answer {
        let shown = try await get(page)
        let token = try #require(shown.token, "\(page): \(shown.status) \(shown.text.prefix(2000))")
        return try await post(path, fields + [("_token", token)])
    }

    @discardableResult
    func signIn(_ name: String, _ password: String) async throws -> Answer {
        try await post("/sign-in", [("name", name), ("password", password), ("next", "/")])
    }

    /// The bytes of a secret as authenticator applications read it; other characters are left out.
    static func base32(_ text: String) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var (bytes, buffer, bits): ([UInt8], UInt32, Int) = ([], 0, 0)
        for letter in text {
            guard let value = alphabet.firstIndex(of: letter) else { continue }
            buffer = (buffer << 5 | UInt32(value)) & 0xFFFF
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return bytes
    }
}
