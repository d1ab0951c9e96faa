import Model
import TestKit

/// The answer of each dialect to a caller that may not make a call.
enum RefusedCall {
    /// Whether the answer says, in the vendor's format, that the caller may not make the call.
    static func isRefused(_ vendor: Vendor, _ path: String, _ status: Int, _ body: [UInt8]) -> Bool {
        let json = try? JSONParser.parse(body)
        return switch vendor {
        case .rationalOwl: path.hasPrefix("/server") ? json?["error"] == "not authorized" : json?["rc"] == -203
        case .upmc: String(decoding: body, as: UTF8.self).contains("\"40100\"")
        case .ipns: json?["error"] == "UNAUTHORIZED"
        default: status == 401
        }
    }
}
