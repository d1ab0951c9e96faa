import PageParts

/// The sentences of the security posture in Korean. The API answers in English; a test compares the keys with the sources of the findings.
enum PostureWords {
    /// A risk or a remedy in both languages; one that this version does not know is shown as it is.
    static func sentence(_ english: String) -> Text {
        if let korean = sentences[english] { return Text(ko: korean, en: english) }
        for (head, tail, korean) in patterns {
            guard let middle = EnglishSentence.middle(of: english, head, tail) else { continue }
            return Text(ko: korean.replacing("…", with: middle), en: english)
        }
        return Text(ko: english, en: english)
    }

    /// A finding names a setting and its value, so that only the words around them are translated.
    static func finding(_ english: String) -> Text {
        if let korean = findings[english] { return Text(ko: korean, en: english) }
        for (head, tail, korean) in findingPatterns {
            guard let middle = EnglishSentence.middle(of: english, head, tail) else { continue }
            return Text(ko: korean.replacing("…", with: middle), en: english)
        }
        if let age = secretAge(english) { return Text(ko: age, en: english) }
        if let (setting, value) = parts(of: english, around: " is ") {
            let shown = value.hasSuffix(", the default") ? "\(value.dropLast(13)) (기본값)" : named(value)
            return Text(ko: "\(setting): \(shown)", en: english)
        }
        return Text(ko: english, en: english)
    }

    private static func named(_ value: String) -> String {
        switch value {
        case "not set": "설정하지 않음"
        case "set": "설정함"
        case "off": "꺼짐"
        default: value
        }
    }

    private static func parts(of text: String, around middle: String) -> (String, String)? {
        guard let range = text.firstRange(of: middle) else { return nil }
        return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
    }

    /// `its secret is 80 days old, and keys.age.days is 90`
    private static func secretAge(_ english: String) -> String? {
        guard let (secret, rest) = parts(of: english, around: " is "),
            let (age, limit) = parts(of: rest, around: " days old, and keys.age.days is ")
        else { return nil }
        let name = secret == "its previous secret" ? "이전 비밀 값" : "비밀 값"
        return "\(name)을 만든 지 \(age)일이 지났습니다. 한도(keys.age.days)는 \(limit)일입니다."
    }

    private static let findings = [
        "the process runs as root": "프로세스가 root로 실행됩니다",
        "the master key has the form of the first versions": "마스터 키가 첫 버전의 형식입니다",
        "neither audit.file nor audit.syslog is set": "audit.file과 audit.syslog가 모두 설정되지 않았습니다",
        "trusted.proxies contains every address": "trusted.proxies에 모든 주소가 들어 있습니다",
        "its previousSecret has no end": "이전 비밀 값(previousSecret)에 만료가 없습니다",
        "limits.calls is off": "limits.calls가 꺼져 있습니다",
    ]

    private static let findingPatterns = [
        ("listen is ", ", without TLS", "listen이 TLS 없이 …에서 대기합니다"),
        ("admin.listen is ", ", without TLS or a key", "admin.listen이 TLS와 키 없이 …에서 대기합니다"),
        ("sslmode of database.url is ", "", "database.url의 sslmode: …"),
        ("scopes ", " from every network", "모든 네트워크에서 사용할 수 있는 권한: …"),
        ("not used for ", " days", "…일 동안 사용하지 않았습니다"),
        ("limits.exempt contains ", "", "limits.exempt에 들어 있는 네트워크: …"),
        (
            "senderNetworks contains ", ", and trusted.proxies is empty",
            "trusted.proxies가 비어 있고, senderNetworks에 들어 있는 네트워크: …"
        ),
    ]

    private static let patterns = [
        (
            "Revoke it: push-gateway key revoke ", ".",
            "폐기하세요: push-gateway key revoke …"
        ),
        ("Give the key a new secret: ", ".", "비밀 값을 교체하세요: …"),
    ]

    static let sentences = nodes.merging(tenants) { first, _ in first }

    private static let nodes = [
        "Keys, push tokens and messages cross the network in clear text.":
            "키, 토큰, 메시지가 암호화되지 않은 채 네트워크를 지납니다.",
        "Use tls.listen, or listen on 127.0.0.1 behind a proxy with TLS.":
            "tls.listen을 사용하거나, TLS 프록시 뒤에서 127.0.0.1로 대기하세요.",
        "Anyone who reaches it reads the metrics, with the names of tenants and apps.":
            "접근할 수 있는 누구나 테넌트와 앱 이름이 들어 있는 지표를 읽습니다.",
        "Listen on an address that only the monitoring reaches.": "모니터링만 접근할 수 있는 주소에서 대기하세요.",
        "Every caller chooses the address that limits and source networks judge.":
            "호출자가 한도와 발신 네트워크 검사에 쓰이는 주소를 마음대로 정할 수 있습니다.",
        "List the addresses of your proxies only.": "사용 중인 프록시 주소만 넣으세요.",
        "One address can register any number of devices and try any number of secrets.":
            "한 주소에서 단말을 무제한 등록하고 비밀 값을 무제한 시도할 수 있습니다.",
        "Remove it, and list the networks of bulk back ends in limits.exempt.":
            "설정을 지우고, 대량 백엔드의 네트워크는 limits.exempt에 넣으세요.",
        "One address can use up more than its share of the gateway.":
            "한 주소가 게이트웨이를 과도하게 사용할 수 있습니다.",
        "Remove it, or set a number (docs/security.md).": "설정을 지우거나 숫자를 지정하세요(docs/security.md).",
        "A fault of the gateway or of a library gives its attacker the whole machine.":
            "게이트웨이나 라이브러리의 결함으로 서버 전체를 빼앗길 수 있습니다.",
        "Name an account of its own with run.as (docs/operations.md#the-account).":
            "run.as로 전용 계정을 지정하세요(docs/operations.md#the-account).",
        "Whoever is in the network between can read and change what the gateway stores.":
            "중간 네트워크에 있는 누구나 저장되는 데이터를 읽고 바꿀 수 있습니다.",
        "Set sslmode=verify-full and sslrootcert in database.url.":
            "database.url에 sslmode=verify-full과 sslrootcert를 지정하세요.",
        "Whoever may create a webhook makes the gateway call these private addresses.":
            "웹훅을 만들 수 있는 사람은 게이트웨이가 이 사설 주소를 호출하게 할 수 있습니다.",
        "Whoever may create a credential makes the gateway call these private addresses, also without TLS.":
            "인증서·키를 만들 수 있는 사람은 게이트웨이가 이 사설 주소를 TLS 없이도 호출하게 할 수 있습니다.",
        "List single addresses, and give the scope admin to few keys.":
            "개별 주소만 넣고, admin 권한은 소수의 키에만 부여하세요.",
        "The same key encrypts the secrets and derives others, and was perhaps never replaced.":
            "같은 키로 비밀 값을 암호화하고 다른 키를 만들며, 한 번도 교체하지 않았을 수 있습니다.",
        "Replace it while the nodes run: push-gateway master-key rotate (docs/operations.md).":
            "노드가 작동하는 동안 교체하세요: push-gateway master-key rotate (docs/operations.md)",
        "Whoever owns the database can remove the whole audit.":
            "데이터베이스를 가진 사람은 감사 로그 전체를 지울 수 있습니다.",
        "Set audit.syslog, or set audit.file and let another system collect the file.":
            "audit.syslog를 설정하거나, audit.file을 설정하고 다른 시스템에서 파일을 수집하세요.",
    ]

    private static let tenants = [
        "Whoever gets the key controls the tenant from anywhere.":
            "키를 얻은 사람은 어디서나 테넌트를 관리할 수 있습니다.",
        "Whoever gets the key can use it from anywhere.": "키를 얻은 사람은 어디서나 사용할 수 있습니다.",
        "Give the key networks.": "키에 네트워크를 지정하세요.",
        "Nobody would notice its loss.": "유출되어도 알아차리기 어렵습니다.",
        "The secret that was replaced stays valid.": "교체된 이전 비밀 값을 계속 사용할 수 있습니다.",
        "Remove previousSecret from the provisioning file when the callers have changed.":
            "호출자가 모두 바뀌면 설정 파일에서 previousSecret을 지우세요.",
        "Calls with it are refused.": "이 비밀 값을 사용하는 호출은 거절됩니다.",
        "Calls with it will be refused.": "이 비밀 값을 사용하는 호출은 곧 거절됩니다.",
        "Give its callers the key's new secret.": "호출자에게 새 비밀 값을 전달하세요.",
        "A message to a user without a confirmed device goes to any device that claims to be that user's.":
            "확인된 단말이 없는 사용자에게 보낸 메시지는, 그 사용자라고 주장하는 모든 단말로 전달됩니다.",
        "Confirm users from the back end (POST /v1/identities/{identity}/vouch), then set minAssurance to vouched, at least for the lane transactional.":
            "백엔드에서 사용자를 확인한 뒤(POST /v1/identities/{identity}/vouch), 적어도 transactional 우선순위의 minAssurance를 vouched로 설정하세요.",
        "A message to a confirmed user also goes to devices that claim to be that user's.":
            "확인된 사용자에게 보낸 메시지가, 그 사용자라고 주장하는 단말에도 전달됩니다.",
        "Remove it when the back end has confirmed the users.": "백엔드에서 사용자를 모두 확인하면 설정을 지우세요.",
        "Every address is in the list, so that anyone who has a copy of an app can send to all its users.":
            "목록에 모든 주소가 들어 있어, 앱을 가진 누구나 모든 사용자에게 발신할 수 있습니다.",
        "List the networks of the back ends only.": "백엔드의 네트워크만 넣으세요.",
        "Anyone who has a copy of an app can send to all its users.":
            "앱을 가진 누구나 모든 사용자에게 발신할 수 있습니다.",
        "Give the back ends API keys, or list their networks in senderNetworks; then remove it.":
            "백엔드에 API 키를 주거나 senderNetworks에 네트워크를 넣은 뒤 설정을 지우세요.",
        "A device takes over the user or phone of another one, and nothing reports it.":
            "한 단말이 다른 단말의 사용자나 전화번호를 가져가도 알 수 없습니다.",
        "Set it to notify, or to vouch if the back end confirms users.":
            "notify로 설정하거나, 백엔드가 사용자를 확인한다면 vouch로 설정하세요.",
        "Anyone with a copy of the app can name another user and read all messages to that user.":
            "앱을 가진 누구나 다른 사용자의 메시지를 모두 읽을 수 있습니다.",
        "Remove it: a device then reads the messages since it has the user.":
            "설정을 지우세요. 그러면 단말은 그 사용자가 된 뒤의 메시지만 읽습니다.",
        "The page of any site can make a browser register and report for this app.":
            "어느 사이트의 페이지든 브라우저가 이 앱으로 등록하고 보고하게 할 수 있습니다.",
        "List the origins of the app's own pages.": "앱 자체 페이지의 출처만 넣으세요.",
        "With a copy of the app, anyone can register a device as any user and get the messages to that user.":
            "앱을 가진 누구나 단말을 다른 사용자로 등록하고 그 사용자의 메시지를 받을 수 있습니다.",
        "Set it to required, with publicKeys, once the apps send tokens.":
            "앱이 토큰을 보내면 publicKeys와 함께 required로 설정하세요.",
        "Whoever knows the push token of a device can take the device over with another user's proof.":
            "단말의 푸시 토큰을 아는 사람은 다른 사용자의 증명으로 단말을 가져갈 수 있습니다.",
        "Remove it when the apps end the former user's session themselves.":
            "앱이 이전 사용자의 세션을 직접 종료하게 되면 설정을 지우세요.",
        "Anyone who knows a DEVICE_ID can switch off its push, or take its messages over with another token.":
            "DEVICE_ID를 아는 누구나 푸시를 끄거나, 다른 토큰으로 메시지를 가로챌 수 있습니다.",
        "Remove it; apps then name the device's token.": "설정을 지우세요. 그러면 앱이 단말의 토큰을 보냅니다.",
        "Calls of apps need no key at all; an AUTHKEY stops only those who do not know the protocol.":
            "앱 호출에 키가 필요 없습니다. AUTHKEY는 프로토콜을 모르는 사람만 막습니다.",
        "Set it to true if the apps were built with it.": "앱이 이를 사용하도록 만들어졌다면 true로 설정하세요.",
        "Anyone who knows or guesses a CUID reads all messages to that user.":
            "CUID를 알거나 추측한 누구나 그 사용자의 메시지를 모두 읽습니다.",
        "Remove it; apps then name the device's PSID.": "설정을 지우세요. 그러면 앱이 단말의 PSID를 보냅니다.",
        "Anyone who knows or guesses a CUID can report messages to that user as read.":
            "CUID를 알거나 추측한 누구나 그 사용자의 메시지를 읽음으로 표시할 수 있습니다.",
        "Remove it; apps then name the device's PSID or DEVICE_ID.":
            "설정을 지우세요. 그러면 앱이 단말의 PSID나 DEVICE_ID를 보냅니다.",
        "With the key that every copy of the app contains, anyone can register as any user and read the tokens of others.":
            "모든 앱에 들어 있는 키로 누구나 다른 사용자로 등록하고 다른 단말의 토큰을 읽을 수 있습니다.",
        "Let the back end issue tokens with POST /v1/apps/{app}/sas; then remove it.":
            "백엔드가 POST /v1/apps/{app}/sas로 토큰을 발급하게 한 뒤 설정을 지우세요.",
        "Anyone who knows a phone number can end the messages to it.":
            "전화번호를 아는 누구나 그 번호로 가는 메시지를 끊을 수 있습니다.",
        "Remove it; apps then name the device.": "설정을 지우세요. 그러면 앱이 단말을 지정합니다.",
        "Whoever knows a fixed code passes the check of its phone number.":
            "고정 인증번호를 아는 사람은 그 전화번호의 확인을 통과합니다.",
        "Remove it, or use numbers that no customer can have.":
            "설정을 지우거나, 고객이 가질 수 없는 번호를 사용하세요.",
        "A few callers with large bodies can use up the memory of the node.":
            "큰 본문을 보내는 소수의 호출자가 노드의 메모리를 모두 사용할 수 있습니다.",
        "Remove it, or set a number of bytes that the node has room for.":
            "설정을 지우거나, 노드가 감당할 수 있는 바이트 수로 설정하세요.",
        "Most callers of the internet are there, and may register and try secrets without a limit.":
            "인터넷의 호출자 대부분이 여기에 속해, 제한 없이 등록하고 비밀 값을 시도할 수 있습니다.",
        "List the networks of bulk back ends only.": "대량 발송 백엔드의 네트워크만 넣으세요.",
        "If a proxy on this machine forwards calls, all have its address, so that anyone can send to all users.":
            "이 서버의 프록시가 호출을 전달하면 모든 호출의 주소가 프록시 주소가 되어, 누구나 모든 사용자에게 발신할 수 있습니다.",
        "List the proxy in trusted.proxies, or give the back ends on this machine API keys.":
            "trusted.proxies에 프록시를 넣거나, 이 서버의 백엔드에 API 키를 주세요.",
        "Anyone who knows or guesses a CUID can add that user to groups and take it out of them.":
            "CUID를 알거나 추측한 누구나 그 사용자를 그룹에 넣거나 뺄 수 있습니다.",
        "Set it to false if the apps name the device's PSID or DEVICE_ID when they join and leave.":
            "앱이 그룹에 들어가고 나갈 때 단말의 PSID나 DEVICE_ID를 보낸다면 false로 설정하세요.",
    ]
}
