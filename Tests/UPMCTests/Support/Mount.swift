import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import UPMC

/// The parts of the gateway in front of the adapter, and the settings of a binding.
enum Mount {
    static let adapter = UPMCAdapter()
    /// 2016-04-14 17:22 in Korea.
    static let now = Timestamp(seconds: 1_460_622_120)
    static let secret = Array("a secret of a binding".utf8)

    static func settings(
        _ version: String = "4.0EE",
        _ values: JSONObject = [:],
        secrets: [String: [UInt8]] = [:]
    ) -> BindingSettings {
        var object: JSONObject = ["applicationId": "com.example.app", "version": .string(version)]
        for (key, value) in values.pairs { object[key] = value }
        var settings = BindingSettings(tenant: "acme", app: "shop", values: object)
        settings.secrets = secrets
        return settings
    }

    static func request(
        _ path: String,
        _ form: String,
        method: HTTPRequest.Method = .post,
        contentType: String? = "application/x-www-form-urlencoded",
        headers: [String: String] = [:],
        at time: Timestamp = now
    ) -> VendorRequest {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return VendorRequest(
            route: "upmc",
            method: method,
            path: path,
            headers: fields,
            body: Array(form.utf8),
            receivedAt: time
        )
    }

    static func call(_ name: String, _ form: String) -> VendorRequest { request("/upmc/\(name).ctl", form) }

    /// The answer to a client if `reply` answers the commands.
    static func answer(
        _ request: VendorRequest,
        _ settings: BindingSettings = settings(),
        _ reply: (Command) -> Reply
    ) -> VendorResponse {
        do throws(AdapterError) {
            _ = try adapter.locate(request)
            let replies = try adapter.decode(request, settings: settings).map(reply)
            return adapter.encode(replies, for: request, settings: settings)
        } catch {
            return adapter.refuse(error, for: request, settings: settings)
        }
    }

    static func body(_ response: VendorResponse) throws -> JSON { try JSONParser.parse(response.body) }

    static func code(_ response: VendorResponse) throws -> String? {
        try body(response)["HEADER"]?["RESULT_CODE"]?.string
    }

    static func command(_ request: VendorRequest, _ settings: BindingSettings = settings()) throws -> Command? {
        try adapter.decode(request, settings: settings).first
    }

    static let registered = Registered(
        identity: IdentityID(.init()),
        device: DeviceID(.init()),
        key: "APNS:6F0A",
        platform: .ios,
        wasActive: false
    )
}
