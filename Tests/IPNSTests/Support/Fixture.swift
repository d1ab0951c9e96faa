import Foundation
import HTTPTypes
import IPNS
import Model
import Testing

/// One documented example: the bytes of a fenced block of the contract, copied and never produced by this project's encoder.
///
/// A block contains one or two calls, each with its answer. Where the contract abbreviates with an ellipsis outside a text, the test supplies the
/// full value.
struct Fixture {
    struct Call {
        var path: String
        var request: JSON
        var response: JSON
    }

    /// The whole text of the fixture `name`, without the newline that ends the file.
    static func text(_ name: String) throws -> String {
        let root = try #require(Bundle.module.resourceURL)
        let text = try String(contentsOf: root.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    static func json(_ name: String) throws -> JSON { try JSONParser.parse(try text(name)) }

    /// The calls of a block, with the full values of its abbreviations.
    static func calls(_ name: String, _ abbreviations: KeyValuePairs<String, String> = [:]) throws -> [Call] {
        var text = try text(name)
        for (short, long) in abbreviations { text = text.replacingOccurrences(of: short, with: long) }
        return try text.components(separatedBy: "POST ").dropFirst().map { part in
            let halves = part.components(separatedBy: "→")
            let lines = try #require(halves.first).split(separator: "\n", maxSplits: 1)
            let path = try #require(lines.first?.split(separator: " ").first)
            return Call(
                path: String(path),
                request: try JSONParser.parse(String(try #require(lines.last))),
                response: try JSONParser.parse(try #require(halves.last))
            )
        }
    }

    /// A token of the form that the contract abbreviates as `9f2c…64hex`.
    static let token = String(repeating: "9f2c", count: 16)
}

/// The parts of the gateway in front of the adapter.
enum Mount {
    static let adapter = IPNSAdapter()
    /// The documented examples name a device by its id alone.
    static let settings = BindingSettings(
        tenant: "acme",
        app: "shop",
        values: ["appId": "hr.mobile", "deviceIdAlone": true]
    )
    static let strict = BindingSettings(tenant: "acme", app: "shop", values: ["appId": "hr.mobile"])

    static func request(
        _ path: String,
        _ body: JSON,
        headers: [String: String] = [:],
        query: String? = nil
    ) -> VendorRequest {
        request(path, bytes: JSONWriter.bytes(body), headers: headers, query: query)
    }

    static func request(
        _ path: String,
        bytes: [UInt8],
        headers: [String: String] = [:],
        query: String? = nil
    ) -> VendorRequest {
        var fields = HTTPFields()
        for (name, value) in ["Content-Type": "application/json; charset=UTF-8"].merging(
            headers,
            uniquingKeysWith: { $1 }
        ) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let route = adapter.routes.first { $0.path == .exact(path) }?.name ?? "ipns.other"
        return VendorRequest(route: route, path: path, query: query, headers: fields, body: bytes)
    }

    static func commands(
        _ request: VendorRequest,
        settings: BindingSettings = settings
    ) throws(AdapterError) -> [Command] {
        _ = try adapter.locate(request)
        return try adapter.decode(request, settings: settings)
    }

    /// The answer to a client if the commands return `replies`.
    static func answer(
        _ request: VendorRequest,
        _ replies: Reply...,
        settings: BindingSettings = settings
    ) throws -> JSON {
        let response: VendorResponse
        do throws(AdapterError) {
            _ = try commands(request, settings: settings)
            response = adapter.encode(replies, for: request, settings: settings)
        } catch {
            response = adapter.refuse(error, for: request, settings: settings)
        }
        return try JSONParser.parse(response.body)
    }

    static func result(_ request: VendorRequest, settings: BindingSettings = settings) throws -> String? {
        try answer(request, settings: settings)["RT"]?.string
    }
}

/// The object of a literal.
func keyed(_ json: JSON) -> JSONObject { json.object ?? JSONObject() }
