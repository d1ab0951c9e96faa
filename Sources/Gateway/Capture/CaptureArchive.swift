package import EngineStore
package import Foundation
package import Model
import Observability

/// Writes a capture as an HTTP archive (HAR 1.2), which the network panels of browsers open. Source: "HTTP Archive (HAR) format", W3C Web Performance,
/// 2012-08-14; read 2026-11.
///
/// The archive is written in three parts, so that at most one page of exchanges is in memory. The format requires fields that a capture does not contain; they
/// have fixed values: the host is `gateway.invalid` (RFC 2606), the HTTP version `unknown`, times are 0, the text of a status is empty. All values stay masked
/// as in the capture.
package enum CaptureArchive {
    private static let host = "http://gateway.invalid"
    private static let hidden = "<hidden>"

    /// The text before the first entry.
    package static func opening(of id: UUID, vendor: Vendor, app: AppID) -> String {
        let creator: JSON = ["name": "push-gateway", "version": .string(GatewayVersion.text)]
        let comment =
            "capture \(id.lowercased) of \(vendor) of \(app), masked: host, HTTP version and durations are not kept"
        return #"{"log":{"version":"1.2","creator":\#(JSONWriter.text(creator)),"comment":"#
            + "\(JSONWriter.text(.string(comment))),\"entries\":["
    }

    package static let closing = "]}}"

    /// One exchange, with a comma before it unless it is the first.
    package static func entry(_ exchange: CapturedExchange, isFirst: Bool) -> String {
        (isFirst ? "" : ",") + JSONWriter.text(entry(exchange))
    }

    package static func entry(_ exchange: CapturedExchange) -> JSON {
        let reason = exchange.reason.map { ": \($0)" } ?? ""
        return [
            "startedDateTime": .string(time(exchange.at)), "time": 0, "request": request(exchange),
            "response": response(exchange), "cache": [:], "timings": ["send": 0, "wait": 0, "receive": 0],
            "comment": .string("#\(exchange.sequence) \(exchange.outcome.rawValue)\(reason) (\(exchange.route))"),
        ]
    }

    private static func request(_ exchange: CapturedExchange) -> JSON {
        let headers = (exchange.request.headers.array ?? []).map { header -> JSON in
            ["name": header["name"] ?? "", "value": .string(header["value"]?.string ?? hidden)]
        }
        let query = pairs(exchange.request.query)
        var request: JSONObject = [
            "method": .string(exchange.request.method), "url": .string(url(exchange.request.path, query)),
            "httpVersion": "unknown",
            "cookies": [], "headers": .array(headers),
            "queryString": .array(query.map { ["name": .string($0.name), "value": .string($0.value)] }),
        ]
        if exchange.request.bodyBytes > 0 {
            let type = (exchange.request.headers.array ?? []).first {
                $0["name"]?.string?.lowercased() == "content-type"
            }
            request["postData"] = [
                "mimeType": .string(type?["value"]?.string ?? ""), "text": .string(exchange.request.body),
            ]
        }
        // -1: unknown. The size is that of the body as received; the text is the masked body.
        request["headersSize"] = -1
        request["bodySize"] = .int(exchange.request.bodyBytes)
        return .object(request)
    }

    private static func response(_ exchange: CapturedExchange) -> JSON {
        let type = exchange.answer.contentType ?? ""
        return [
            "status": .int(exchange.answer.status), "statusText": "", "httpVersion": "unknown", "cookies": [],
            "headers": exchange.answer.contentType == nil ? [] : [["name": "Content-Type", "value": .string(type)]],
            "content": [
                "size": .int(exchange.answer.bodyBytes), "mimeType": .string(type),
                "text": .string(exchange.answer.body),
            ], "redirectURL": "", "headersSize": -1, "bodySize": .int(exchange.answer.bodyBytes),
        ]
    }

    /// A masked query is a decoded form. A field whose name was masked away consists of a value only.
    private static func pairs(_ query: String?) -> [(name: String, value: String)] {
        guard let query, !query.isEmpty else { return [] }
        return query.split(separator: "&").map { field in
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(pair.first ?? ""), pair.count == 2 ? String(pair[1]) : "")
        }
    }

    /// Escapes masks, which contain characters that a URL must not contain; panels parse this text as a URL.
    private static func url(_ path: String, _ query: [(name: String, value: String)]) -> String {
        let fields = query.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { encoded(String($0)) }
        return host + (path.hasPrefix("/") ? "" : "/") + segments.joined(separator: "/")
            + (fields.isEmpty ? "" : "?\(fields)")
    }

    /// The characters that never need an escape (RFC 3986 §2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// Formats a time as ISO 8601 with milliseconds, in UTC.
    private static func time(_ time: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(time.milliseconds) / 1000).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        )
    }
}
