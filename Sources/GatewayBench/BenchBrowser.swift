import AsyncHTTPClient
import CommandSupport
import ConsoleHTTP
import NIOCore
import NIOHTTP1
import WebConsole

/// A browser for benchmarks of the console: it keeps its session, and follows and loads nothing by itself.
struct BenchBrowser: Sendable {
    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var bytes: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }

        /// The size of the answer as HTTP/1.1 sends it: head and body.
        var transferredBytes: Int {
            let lines = headers.map { $0.name.utf8.count + $0.value.utf8.count + 4 }
            return "HTTP/1.1 200 OK\r\n\r\n".utf8.count + lines.reduce(0, +) + bytes.count
        }

        fileprivate func cookie(_ name: String) -> String? {
            headers["set-cookie"].first { $0.hasPrefix("\(name)=") }
                .map { String($0.dropFirst(name.utf8.count + 1).prefix { $0 != ";" }) }
        }
    }

    /// The address of the console: scheme, host and port.
    let base: String
    private let client: HTTPClient
    private var session: String?

    private init(_ base: String, _ client: HTTPClient) {
        self.base = base
        self.client = client
    }

    /// Runs `body` with a function that opens browsers, each of another person.
    ///
    /// - Throws: what `body` throws.
    static func with<Value>(
        _ base: String,
        _ body: (_ browser: () -> BenchBrowser) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(5), read: .seconds(60)))
        configuration.redirectConfiguration = .disallow
        // An open page keeps its connection.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 512
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body { BenchBrowser(base, client) }
            try? await client.shutdown()
            return value
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    // MARK: Signing in

    /// Opens the link of an invitation, and chooses a password.
    ///
    /// - Throws: `StageFailure` when the console refuses it.
    func accept(_ link: String, password: String) async throws {
        let path = "/\(SignInPages.Path.invitation)"
        let secret = String(link.dropFirst(base.count + path.count + 1))
        let fields = [("secret", secret), ("password", password), ("repeated", password)]
        let answer = try await post(path, fields)
        guard answer.status == 303 else {
            throw StageFailure("an invitation answered \(answer.status) \(answer.text.prefix(300))")
        }
    }

    /// - Throws: `StageFailure` when the console refuses it.
    mutating func signIn(_ name: String, _ password: String) async throws {
        let fields = [("name", name), ("password", password), ("next", "/")]
        let answer = try await post("/\(SignInPages.Path.signIn)", fields)
        guard answer.status == 303, let value = answer.cookie(ConsoleCookies.session) else {
            throw StageFailure("signing in answered \(answer.status) \(answer.text.prefix(300))")
        }
        session = value
    }

    // MARK: Requests

    /// - Parameters:
    ///   - path: path and query.
    ///   - isCompressed: whether the answer may be compressed, as for every browser.
    /// - Returns: the answer; its body is still compressed.
    /// - Throws: the client's error when no answer arrives.
    func get(_ path: String, isCompressed: Bool = true) async throws -> Answer {
        var request = request(path)
        if isCompressed { request.headers.add(name: "accept-encoding", value: "gzip") }
        return try await answer(request)
    }

    private func post(_ path: String, _ fields: [(String, String)]) async throws -> Answer {
        var request = request(path)
        request.method = .POST
        // Browsers state it with each form.
        request.headers.add(name: "origin", value: base)
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let form = fields.map { HTTPCaller.encode($0.0) + "=" + HTTPCaller.encode($0.1) }
        request.body = .bytes(ByteBuffer(string: form.joined(separator: "&")))
        return try await answer(request)
    }

    /// Opens the stream of a page, until the server ends it.
    ///
    /// - Parameters:
    ///   - path: path and query.
    ///   - part: called with the size of each part.
    /// - Returns: the status.
    /// - Throws: the client's error when the stream breaks.
    func stream(_ path: String, _ part: @Sendable (Int) -> Void) async throws -> Int {
        var request = request(path)
        request.headers.add(name: "accept", value: "text/event-stream")
        // The time limit is that of one part, `timeout.read` of the client.
        let response = try await client.execute(request, timeout: .hours(24))
        for try await buffer in response.body where response.status == .ok { part(buffer.readableBytes) }
        return Int(response.status.code)
    }

    private func request(_ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: base + path)
        request.headers.add(name: "accept-language", value: "en")
        if let session { request.headers.add(name: "cookie", value: "\(ConsoleCookies.session)=\(session)") }
        return request
    }

    private func answer(_ request: HTTPClientRequest) async throws -> Answer {
        let response = try await client.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 16 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: response.headers,
            bytes: Array(buffer.readableBytesView)
        )
    }
}
