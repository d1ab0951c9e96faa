import HTTPTypes
import Model
import RationalOwl

/// The allowed form of an answer, endpoint by endpoint, written from the tables of docs/contracts/rationalowl.md#5,
/// docs/contracts/rationalowl.md#7.4, docs/contracts/rationalowl.md#8 and docs/contracts/rationalowl.md#11. It checks the answers to mutated calls.
struct Shape {
    /// The result codes of docs/contracts/rationalowl.md#4.2; `/pushApp` returns no others.
    static let resultCodes: Set<Int64> = [1, -1, -101, -102, -201, -202, -203, -231, -232, -241, -251, -301]

    var endpoint: String

    /// The fault of `response`, or nil.
    func fault(_ response: VendorResponse) -> String? {
        guard [200, 400, 413, 429].contains(response.status) || endpoint == "notiRead" && response.status == 503 else {
            return "status \(response.status)"
        }
        if endpoint == "notiRead", response.status != 429 { return receiptFault(response) }
        guard response.headers[.contentType] == "application/json; charset=utf-8" else { return "content type" }
        guard let body = (try? JSONParser.parse(response.body))?.object else { return "no JSON object" }
        guard !body.pairs.contains(where: { $0.value == .null }) else { return "a null" }
        guard allowed(isSuccess: body["rc"] == 1).contains(Set(body.keys)) else { return "keys \(body.keys)" }
        return typeFault(body)
    }

    private func receiptFault(_ response: VendorResponse) -> String? {
        let body: String? =
            switch response.status {
            case 200: "ok"
            case 400, 503: "error"
            default: nil
            }
        guard let body, response.body == Array(body.utf8) else { return "a receipt's answer" }
        return response.headers[.contentType] == "text/plain; charset=utf-8" ? nil : "content type"
    }

    private func typeFault(_ body: JSONObject) -> String? {
        let numbers: Set<String> = ["cId", "rc", "ast", "as", "ase", "mst", "mt", "ms"]
        for (key, value) in body.pairs where key != "undelivered" {
            guard numbers.contains(key) ? value.int != nil : value.string != nil else { return "the type of \(key)" }
        }
        if let code = body["rc"]?.int, endpoint != "deviceRegister" || code != -122, !Self.resultCodes.contains(code) {
            return "rc \(code)"
        }
        return nil
    }

    /// The allowed sets of keys.
    private func allowed(isSuccess: Bool) -> Set<Set<String>> {
        let common: Set<String> = ["cId", "aId", "rc"]
        let states: Set<String> = ["cmt", "mId", "ast", "mst", "mt", "ms"]
        switch endpoint {
        case "installApp": return [common.union(["cmt", "usRid"])]
        case "unregUser":
            return [["pn"], ["dRId"], ["pn", "dRId"]].reduce(into: []) { $0.insert(common.union($1).union(["cmt"])) }
        case "reqAuthNumber": return [common.union(["cmt"])]
        case "verifyAuthNumber":
            return isSuccess
                ? [common, common.union(["cmt", "c"])] : [common.union(["cmt"]), common.union(["cmt", "c"])]
        case "notiRead": return [["rc", "cmt"]]
        case "msgInfo":
            return [["as"], ["ase"], ["as", "ase"]].reduce(into: []) { $0.insert(common.union(states).union($1)) }
        case "imgData": return [common.union(["cmt", "imgD"])]
        case "serverRegister": return [["serverRegId", "channelServer"], ["error"]]
        case "clientRegister": return [["rc", "srId", "cmt"], ["rc", "cmt"]]
        case "sendByPhoneNumber", "sendByDeviceID": return [["mId"], ["rc", "cmt", "error"]]
        case "setCallbackURL": return isSuccess ? [["rc"]] : [["rc", "cmt"]]
        case "deviceRegister": return [["rc", "dRId"], ["rc", "cmt"]]
        case "deviceState": return isSuccess ? [["rc"], ["rc", "undelivered"]] : [["rc", "cmt"]]
        default: return isSuccess ? [["rc"]] : [["rc", "cmt"]]
        }
    }
}
