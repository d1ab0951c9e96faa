/// A `RESULT_CODE`, which is always a string in JSON. Source: docs/contracts/upmc.md#1.5.
package enum UPMCCode: String, Sendable {
    case success = "0000"
    /// A gateway failure, under HTTP 200 (docs/contracts/upmc.md#1.3).
    case serverError = "500"
    case notSubscribed = "4400"
    case reservedNotSubscribed = "4401"
    case noBroker = "4404"
    case reservationPassed = "5500"
    case reservationFailed = "5600"
    /// A parameter is missing or invalid; `RESULT_BODY` names it.
    case badRequest = "40000"
    /// After this code the SDKs discard their key and request another.
    case unauthorized = "40100"
    case denied = "40300"
}
