import HTTPTypes
import Model
import RationalOwl
import Testing

/// The parts of the gateway in front of the adapter: the path decides the route, exact before prefix, a trailing
/// slash is ignored.
enum Mount {
    static let adapter = RationalOwlAdapter()

    /// A call to `path` in the form that the adapter receives.
    static func request(
        _ path: String,
        method: HTTPRequest.Method = .post,
        headers: [String: String] = ["Content-Type": "application/json"],
        body: [UInt8]
    ) -> VendorRequest {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let route = route(for: path)?.name ?? "none"
        return VendorRequest(route: route, method: method, path: path, headers: fields, body: body)
    }

    static func route(for path: String) -> VendorRoute? {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        return adapter.routes.first { $0.path == .exact(path) }
            ?? adapter.routes.first {
                if case .prefix(let prefix) = $0.path { path.hasPrefix(prefix + "/") } else { false }
            }
    }

    /// The path of a documented request in that folder of fixtures.
    static func path(of folder: String) -> String {
        switch folder {
        case "serverRegister": "/server/register/"
        case "clientRegister": "/msgClient/register"
        case "sendByPhoneNumber": "/msgClient/msgClientSendMsgByPhoneNum"
        case "sendByDeviceID": "/msgClient/msgClientSendMsgByDeviceId"
        case "setCallbackURL": "/msgClient/setCallbackUrl"
        case "deviceRegister": "/ro/v1/device/register"
        case "deviceState": "/ro/v1/device/state"
        default: "/pushApp/\(folder)"
        }
    }

    /// The documented request `fixture`.
    static func documented(_ fixture: String, headers: [String: String] = [:]) throws -> VendorRequest {
        let folder = String(fixture.prefix { $0 != "/" })
        return request(
            path(of: folder),
            headers: headers.merging(["Content-Type": "application/json"]) { first, _ in first },
            body: try Fixture.bytes(fixture)
        )
    }

    /// The answer to a client: the request is located, decoded, and answered with `reply`, or refused if it never
    /// becomes a command.
    static func answer(
        _ request: VendorRequest,
        _ reply: Reply,
        settings: BindingSettings = BindingSettings()
    ) -> VendorResponse {
        do throws(AdapterError) {
            _ = try adapter.locate(request)
            _ = try adapter.decode(request, settings: settings)
        } catch {
            return adapter.refuse(error, for: request, settings: settings)
        }
        return adapter.encode([reply], for: request, settings: settings)
    }

    /// The parsed body of an answer.
    static func body(_ response: VendorResponse) throws -> JSON { try JSONParser.parse(response.body) }
}

/// Ids of the contract's examples. All are invented there.
enum Sample {
    static let account = "a1b2c3d4-1111-4222-8333-444455556666"
    static let service = "0123456789abcdef0123456789abcdef"
    static let server = "SVR11111111-2222-4333-8444-555555555555"
    static let device = "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
    static let messageText = "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"
    static let usRid = BindingSettings(values: JSONObject([("usRid", .string(server))]))

    static func message(_ text: String = messageText) throws -> MessageID { try #require(MessageID(text: text)) }
}

/// The object of a literal: `keyed(["push": ["ttlHours": 24]])`.
func keyed(_ json: JSON) -> JSONObject { json.object ?? JSONObject() }
