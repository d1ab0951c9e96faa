import Model

/// The documented requests of RationalOwl's contract with the ids of this world. Source: the vendor document and docs/contracts/rationalowl.md#5 to
/// 8, docs/contracts/rationalowl.md#11.1.
struct RationalOwlRequests {
    var account: String
    var service: String
    var device: String
    var sender: String
    var message: String
    var image: String

    /// Path, route name and body of each documented call.
    var all: [(path: String, route: String, body: JSON)] {
        let app: [(String, JSON)] = [
            (
                "installApp",
                [
                    "cId": 303, "sId": .string(service), "aId": .string(account), "dt": 2, "dRId": .string(device),
                    "pn": "01022221111", "auId": "gildong", "n": "홍길동",
                ]
            ),
            (
                "unregUser",
                ["cId": 305, "aId": .string(account), "pn": "01088887777", "dRId": "d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9"]
            ),
            ("reqAuthNumber", ["cId": 301, "aId": .string(account), "cc": "82", "pn": "01022221111"]),
            ("verifyAuthNumber", ["cId": 302, "aId": .string(account), "dt": 2, "pn": "01022221111", "an": "1111"]),
            (
                "notiRead",
                [
                    "cId": 311, "r": 1, "aId": .string(account), "dRId": .string(device), "pn": "01022221111",
                    "mId": .string(message),
                ]
            ),
            (
                "msgInfo",
                [
                    "cId": 312, "aId": .string(account), "pn": "01022221111", "dRId": .string(device),
                    "mId": .string(message),
                ]
            ),
            ("imgData", ["cId": 313, "aId": .string(account), "iId": .string(image), "mId": .string(message)]),
        ]
        let shim: [(String, JSON)] = [
            (
                "device/register",
                [
                    "sId": .string(service), "name": "홍길동", "dt": 2,
                    "tk": "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "env": "dev",
                    "bundleId": "com.example.umsdemo", "model": "iPhone15,2", "osVer": "18.1",
                ]
            ),
            (
                "device/token",
                [
                    "sId": .string(service), "dRId": .string(device),
                    "tk": "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "env": "dev",
                ]
            ),
            ("device/unregister", ["sId": .string(service), "dRId": "d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9"]),
            ("device/state", ["sId": .string(service), "dRId": .string(device), "state": "active"]),
            (
                "noti/delivered",
                ["sId": .string(service), "dRId": .string(device), "mId": .string(message), "t": 1_731_999_999_123]
            ),
            ("noti/opened", ["sId": .string(service), "dRId": .string(device), "mId": .string(message)]),
        ]
        let head: [(String, JSON)] = [("rId", .string(sender)), ("aId", .string(account)), ("ip", "203.0.113.10")]
        let client: [(String, JSON)] = [
            (
                "register",
                .object(
                    JSONObject(
                        [("cId", 1), ("r", 1), ("t", 12), ("sId", .string(service)), ("mcn", "shop backend 1")] + head
                    )
                )
            ),
            (
                "msgClientSendMsgByPhoneNum",
                .object(
                    JSONObject(
                        head + [
                            ("msg", ["title": "공지", "body": "공지사항입니다~"]),
                            ("dest", ["t": 2, "tg": [["pn": "01011111111"], ["pn": "01022222222", "un": "홍길동"]]]),
                            ("rv", ["t": 2, "st": "2090/12/25 13:30:0"]), ("a", ["s": 2, "t": 12, "sp": "0212345678"]),
                        ]
                    )
                )
            ),
            (
                "msgClientSendMsgByDeviceId",
                .object(
                    JSONObject(
                        head + [
                            ("msg", ["title": "공지", "body": "공지사항입니다~"]),
                            ("dest", ["t": 2, "tg": [["dId": .string(device)]]]),
                            ("rv", ["t": 2, "st": "2090/12/25 13:30:0"]),
                        ]
                    )
                )
            ),
            (
                "setCallbackUrl",
                .object(
                    JSONObject(head + [("sId", .string(service)), ("url", "https://shop.example.com/ums/callback")])
                )
            ),
        ]
        return app.map { ("/pushApp/\($0.0)", $0.0, $0.1) } + shim.map { ("/ro/v1/\($0.0)", $0.0, $0.1) }
            + client.map { ("/msgClient/\($0.0)", $0.0, $0.1) }
            + [
                (
                    "/server/register/", "server/register",
                    ["serviceId": .string(service), "registerName": "shop backend 1", "privateNetwork": 1]
                )
            ]
    }
}

extension RationalOwlRequests {
    /// The fault of an answer to any request, valid or not: a 5xx, or a status or a shape that the vendor does not
    /// have. Nil: the answer has no fault.
    static func fault(_ status: Int, _ answer: [UInt8], to path: String, _ body: [UInt8]) -> String? {
        let text = String(decoding: answer, as: UTF8.self)
        let what = "\(path) \(status) \(text.prefix(200)) for \(String(decoding: body.prefix(300), as: UTF8.self))"
        guard [200, 400, 404, 405, 413, 429].contains(status) else { return what }
        if path == "/pushApp/notiRead" { return text == "ok" || text == "error" ? nil : what }
        guard let object = (try? JSONParser.parse(answer))?.object else { return what }
        return object.pairs.contains { $0.value == .null } ? what : nil
    }
}
