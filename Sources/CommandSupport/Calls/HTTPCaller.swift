import AsyncHTTPClient
import Foundation
package import Model
import NIOCore
package import NIOHTTP1
package import NIOSSL
import Outgoing

/// A small HTTP client for commands: it sends JSON or a form and reads a JSON answer of bounded size.
package struct HTTPCaller: Sendable {
    package struct Answer: Sendable {
        package var status: Int
        package var headers: HTTPHeaders
        package var bytes: [UInt8]
        package var json: JSON? { try? JSONParser.parse(bytes) }
        package var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Gets each whole answer, with the method and the path of its call.
    package typealias OnAnswer = @Sendable (_ method: String, _ path: String, _ answer: Answer) -> Void

    package let base: String
    private let owned: OwnedClient
    private var client: HTTPClient { owned.client }
    private let onAnswer: OnAnswer?

    /// - Parameters:
    ///   - base: scheme, host and port.
    ///   - trustRootsFile: PEM file of the only trusted authority, for a listener with a self-made certificate.
    ///   - onAnswer: for tests, which compare answers with the API's document.
    package init(base: String, trustRootsFile: String? = nil, onAnswer: OnAnswer? = nil) {
        self.init(
            base: base,
            tls: trustRootsFile.map { file in
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .file(file)
                return tls
            },
            onAnswer: onAnswer
        )
    }

    /// - Parameters:
    ///   - base: scheme, host and port.
    ///   - tls: for `https`.
    ///   - connections: how many calls are made at the same time; nil: the client's default, eight.
    ///   - onAnswer: sees each answer.
    package init(base: String, tls: TLSConfiguration?, connections: Int? = nil, onAnswer: OnAnswer? = nil) {
        self.base = base
        self.onAnswer = onAnswer
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(5), read: .seconds(30)))
        configuration.tlsConfiguration = tls
        if let connections { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections }
        owned = OwnedClient(HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration))
    }

    /// - Throws: the client's error when no answer arrives.
    package func call(
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        headers: [String: String] = [:],
        bearer: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let bearer { request.headers.add(name: "authorization", value: "Bearer \(bearer)") }
        if let body {
            request.headers.add(name: "content-type", value: "application/json; charset=utf-8")
            request.body = .bytes(ByteBuffer(bytes: JSONWriter.bytes(body)))
        }
        return try await execute(request)
    }

    /// - Throws: the client's error when no answer arrives.
    package func put(_ path: String, _ bytes: [UInt8], bearer: String) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .PUT
        request.headers.add(name: "authorization", value: "Bearer \(bearer)")
        request.body = .bytes(ByteBuffer(bytes: bytes))
        return try await execute(request)
    }

    /// Posts bytes as JSON, which they need not be.
    ///
    /// - Throws: the client's error when no answer arrives.
    package func post(_ path: String, json bytes: [UInt8], headers: [String: String] = [:]) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: bytes))
        return try await execute(request)
    }

    /// Posts a form, encoded like the forms of browsers and older libraries.
    ///
    /// - Throws: the client's error when no answer arrives.
    package func post(
        _ path: String,
        form fields: [String: String],
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let form = fields.sorted { $0.key < $1.key }.map { Self.encode($0.key) + "=" + Self.encode($0.value) }
        request.body = .bytes(ByteBuffer(string: form.joined(separator: "&")))
        return try await execute(request)
    }

    /// Gets an answer of any length, part by part.
    ///
    /// - Parameters:
    ///   - path: path and query.
    ///   - bearer: the key.
    ///   - part: called for each part of an answer with a status of success.
    /// - Returns: the answer; without its body, if it was successful.
    /// - Throws: the client's error when the answer does not end properly, or what `part` throws.
    package func stream(
        _ path: String,
        bearer: String,
        _ part: ([UInt8]) throws -> Void
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.headers.add(name: "authorization", value: "Bearer \(bearer)")
        // The time limit is that of one part, `timeout.read` of the client.
        let response = try await client.execute(request, timeout: .hours(24))
        guard (200..<300).contains(response.status.code) else {
            let buffer = try await response.body.collect(upTo: 1 << 20)
            return Answer(response, Array(buffer.readableBytesView))
        }
        for try await buffer in response.body { try part(Array(buffer.readableBytesView)) }
        return Answer(response, [])
    }

    /// Percent-encodes every character except the unreserved ones of RFC 3986, §2.3.
    package static func encode(_ text: String) -> String {
        var unreserved = CharacterSet(charactersIn: "-._~")
        for range in ["a"..."z", "A"..."Z", "0"..."9"] as [ClosedRange<Unicode.Scalar>] {
            unreserved.insert(charactersIn: range)
        }
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// A path with the parameters that have a value.
    package static func path(_ path: String, _ parameters: [(String, String?)]) -> String {
        let query = parameters.compactMap { name, value in value.map { "\(name)=\(encode($0))" } }
        return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
    }

    /// Parameters with several values, separated by commas. Those without a value are left out.
    package static func lists(_ parameters: [(String, [String])]) -> [(String, String?)] {
        parameters.map { ($0, $1.isEmpty ? nil : $1.joined(separator: ",")) }
    }

    private func execute(_ request: HTTPClientRequest) async throws -> Answer {
        let response = try await client.execute(request, timeout: .seconds(30))
        let buffer = try await response.body.collect(upTo: 16 << 20)
        let answer = Answer(response, Array(buffer.readableBytesView))
        onAnswer?(request.method.rawValue, String(request.url.dropFirst(base.count)), answer)
        return answer
    }

    /// Closes the connections now, not only when nothing uses the caller any more.
    package func close() async { try? await client.shutdown() }

    /// Runs `body`, and closes the client in any case.
    ///
    /// - Throws: the error of `body`.
    package func closing<Value: Sendable>(_ body: (HTTPCaller) async throws -> Value) async throws -> Value {
        do {
            let value = try await body(self)
            await close()
            return value
        } catch {
            await close()
            throw error
        }
    }
}

extension HTTPCaller.Answer {
    init(_ response: HTTPClientResponse, _ bytes: [UInt8]) {
        self.init(status: Int(response.status.code), headers: response.headers, bytes: bytes)
    }
}
