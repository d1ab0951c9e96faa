import Model
import PageParts

/// The changes with which an app or a back end of a vendor reaches the gateway, from the guides in `docs/vendors`.
struct VendorConnection: Sendable {
    /// One place of an app or a back end, and its value there.
    struct Line: Sendable, Hashable {
        var place: Text
        var value: String
    }
    var lines: [Line]
    /// Further steps.
    var notes: [Text]

    /// - Parameters:
    ///   - vendor: a vendor's name.
    ///   - host: the name under which devices reach the gateway; nil: unknown here.
    ///   - settings: those of the binding.
    /// - Returns: nil for a vendor without a guide.
    static func of(_ vendor: String?, host: String?, settings: JSON?) -> VendorConnection? {
        let host = host ?? "<your host>"
        let guide = guides.first { VendorName.id($0.vendor) == vendor }
        return guide?.connection("https://" + host, host, settings)
    }

    /// By vendor: how it connects to a base address or a host, with the settings of the binding.
    private static let guides: [(vendor: String, connection: @Sendable (String, String, JSON?) -> VendorConnection)] = [
        ("RationalOwl", { base, _, _ in rationalOwl(base) }), ("iPNS", { base, _, _ in ipns(base) }),
        ("UPMC", { base, _, settings in upmc(settings?["publicUrl"]?.string ?? base) }),
        ("Braze", { base, _, settings in braze(base, settings) }), ("Notification Hubs", { _, host, _ in hubs(host) }),
    ]

    private static let proof = Text(
        ko: "백엔드는 발신 권한(send)이 있는 API 키를 Authorization: Bearer 헤더로 보내거나, 연동 설정 senderNetworks에 속한 네트워크에서 호출해야 합니다.",
        en:
            "The back end sends an API key with the scope send in Authorization: Bearer, or calls from a network in senderNetworks of the binding."
    )

    private static func rationalOwl(_ base: String) -> VendorConnection {
        VendorConnection(
            lines: [
                Line(place: Text(ko: "앱 설정의 ums_host", en: "ums_host in the app's configuration"), value: base),
                Line(
                    place: Text(ko: "백엔드의 UMS 주소 (/msgClient/…)", en: "Back end, UMS (/msgClient/…)"),
                    value: base
                ),
                Line(
                    place: Text(ko: "백엔드 등록 주소 (/server/register/)", en: "Back end, /server/register/"),
                    value: base
                ),
            ],
            notes: [
                Text(
                    ko: "예제 앱은 포트 36001을 사용합니다. 게이트웨이도 이 포트에서 TLS로 대기해야 합니다(--tls-listen 0.0.0.0:36001).",
                    en:
                        "The sample apps use port 36001: let the gateway listen on it with TLS (--tls-listen 0.0.0.0:36001)."
                ),
                Text(
                    ko: "벤더 REST API에는 토큰이 없습니다. installApp에 tk(16진수)와 env(dev 또는 prod)를 추가하세요.",
                    en: "The vendor's REST API carries no push token: add tk (hex) and env (dev or prod) to installApp."
                ),
                proof,
            ]
        )
    }

    private static func ipns(_ base: String) -> VendorConnection {
        VendorConnection(
            lines: [
                Line(
                    place: Text(
                        ko: "앱: initWithCallbacks:SvrAddr:와 setSvrAddress:에 전달하는 주소",
                        en: "App: the address passed to initWithCallbacks:SvrAddr: and setSvrAddress:"
                    ),
                    value: base + "/ipns"
                ),
                Line(place: Text(ko: "백엔드의 발신 호출", en: "Back end: its send call"), value: base + "/ipns/send"),
            ],
            notes: [
                Text(
                    ko: "앱이 호출마다 전달하는 앱 ID는 연동의 appId와 같아야 합니다.",
                    en: "The app id in each call of the app must equal appId of the binding."
                ),
                proof,
            ]
        )
    }

    private static func upmc(_ base: String) -> VendorConnection {
        VendorConnection(
            lines: [
                Line(
                    place: Text(
                        ko: "iOS: Manifest.xml의 settings/push/receiver/server 또는 [PushManager.info changeHost:]",
                        en: "iOS: settings/push/receiver/server in Manifest.xml, or [PushManager.info changeHost:]"
                    ),
                    value: base + "/upmc"
                ),
                Line(
                    place: Text(ko: "Android: CUSTOM_RECEIVER_SERVER_URL", en: "Android: CUSTOM_RECEIVER_SERVER_URL"),
                    value: base + "/upmc"
                ),
                Line(
                    place: Text(
                        ko: "백엔드 (rcv_register_message.ctl 등)",
                        en: "Back end (rcv_register_message.ctl and others)"
                    ),
                    value: base + "/upmc/rcv_register_message.ctl"
                ),
            ],
            notes: [
                Text(
                    ko: "백엔드는 연동의 sendKey를 X-Gateway-Key 헤더로 보내거나, API 키를 보내거나, senderNetworks에 속한 네트워크에서 호출해야 합니다.",
                    en:
                        "The back end sends the sendKey of the binding in X-Gateway-Key, or an API key, or calls from a network in senderNetworks."
                )
            ]
        )
    }

    private static func braze(_ base: String, _ settings: JSON?) -> VendorConnection {
        var notes = [
            Text(
                ko: "백엔드는 연동에 등록한 REST 키를 Authorization: Bearer 헤더로 보냅니다.",
                en: "The back end sends a REST key of the binding in Authorization: Bearer."
            )
        ]
        if settings?["sdkEnabled"]?.bool != true {
            notes.append(
                Text(
                    ko: "SDK 호출은 꺼져 있습니다(sdkEnabled). 켜기 전에 벤더와의 계약을 확인하세요.",
                    en:
                        "Calls of the SDK are off (sdkEnabled). Clarify your contract with the vendor before you switch them on."
                )
            )
        }
        return VendorConnection(
            lines: [
                Line(place: Text(ko: "백엔드: REST 주소", en: "Back end: the REST endpoint"), value: base),
                Line(place: Text(ko: "앱: SDK 엔드포인트", en: "App: the SDK endpoint"), value: base),
            ],
            notes: notes
        )
    }

    private static func hubs(_ host: String) -> VendorConnection {
        VendorConnection(
            lines: [
                Line(
                    place: Text(ko: "앱과 백엔드의 연결 문자열", en: "The connection string of apps and back ends"),
                    value: "Endpoint=sb://\(host)/;SharedAccessKeyName=…;SharedAccessKey=…"
                )
            ],
            notes: [
                Text(
                    ko: "허브 이름은 그대로 둡니다. 서명에 호스트가 들어 있으므로 Host 헤더가 바뀌지 않고 도착해야 합니다.",
                    en: "The hub's name stays. Signatures contain the host, so the Host header must arrive unchanged."
                ),
                Text(
                    ko: "단말이 신뢰하는 인증서로 HTTPS를 제공해야 합니다.",
                    en: "Serve HTTPS with a certificate that devices trust."
                ),
            ]
        )
    }
}
