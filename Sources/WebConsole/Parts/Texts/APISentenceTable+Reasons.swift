extension APISentenceTable {
    /// The meaning of each reason, and the recommended action.
    static let reasons: [(en: String, ko: String)] = [
        (
            "No active identity has this address, or the device has no usable token.",
            "이 주소로 등록된 단말이 없거나, 단말에 사용할 수 있는 토큰이 없습니다."
        ),
        (
            "The app has to register with a token; /v1/devices shows the state of its present token.",
            "앱이 토큰을 다시 등록해야 합니다."
        ),
        (
            "Another target of the same message notifies the same device.",
            "같은 메시지의 다른 대상이 이미 같은 단말에 알림을 보냅니다."
        ),
        (
            "Nothing: a message notifies each device once.",
            "조치할 필요가 없습니다. 메시지는 단말마다 한 번만 알림을 보냅니다."
        ),
        (
            "The device was sent a message with the same text shortly before, through another dialect or by the vendor.",
            "다른 형식이나 벤더를 통해 조금 전에 같은 내용의 메시지가 단말에 발신되었습니다."
        ),
        (
            "Nothing: duplicateGuard of the app is for this. Send the message through one of the two only, or shorten the window (docs/routing.md#cross-vendor-duplicates).",
            "조치할 필요가 없습니다. 앱의 duplicateGuard가 의도한 결과입니다. 한쪽으로만 발신하거나 비교 기간(window)을 줄일 수 있습니다(docs/routing.md#cross-vendor-duplicates)."
        ),
        (
            "The user of the identity is not confirmed as well as the message needs, or less well than on another identity of the same user.",
            "메시지에 필요한 수준만큼 사용자가 확인되지 않았거나, 같은 사용자의 다른 등록 정보보다 수준이 낮습니다."
        ),
        (
            "Confirm it with POST /v1/identities/{identity}/vouch; minAssurance and mixedAssurance of the app change the rule.",
            "사용자를 확인하거나, 앱의 minAssurance 또는 mixedAssurance 설정을 변경하세요."
        ),
        (
            "A delivery rule of the app sends nothing to it (paths: [none]).",
            "앱의 라우팅 규칙이 이 대상에는 발신하지 않습니다."
        ),
        (
            "Change the rule: push-gateway routes show, docs/routing.md#rules.",
            "의도한 것이 아니라면 라우팅 규칙을 변경하세요."
        ),
        (
            "The upstream pushes to all devices of the user, and another target of the message stands for this one.",
            "업스트림이 사용자의 모든 단말에 발신하며, 같은 사용자의 다른 대상이 이 대상을 대표합니다."
        ),
        (
            "Nothing: the upstream gets one call for each user of a message.",
            "조치할 필요가 없습니다."
        ),
        (
            "The node that called the upstream ended before it had recorded the answer. The upstream may have pushed the message.",
            "업스트림을 호출한 노드가 응답을 기록하기 전에 종료되었습니다. 업스트림이 메시지를 발신했을 수 있습니다."
        ),
        (
            "Nothing: the call is not repeated, because no vendor recognizes a repeated message.",
            "중복 발신을 막기 위해 호출을 반복하지 않습니다."
        ),
        (
            "The user has switched pushes off.",
            "사용자가 푸시 알림을 껐습니다."
        ),
        (
            "Nothing, until the user switches them on again.",
            "조치할 필요가 없습니다. 사용자가 다시 켜면 발신됩니다."
        ),
        (
            "It was due during the app's quiet hours, and the app suppresses such messages.",
            "앱의 방해 금지 시간에 해당하며, 앱이 이 시간의 메시지를 발신하지 않도록 설정되어 있습니다."
        ),
        (
            "Send it outside the quiet hours, or provision quietHours with outside: delay.",
            "방해 금지 시간 밖에 발신하거나, quietHours의 outside를 delay로 설정하세요."
        ),
        (
            "It was due outside the device's receiving hours, and the app suppresses such messages.",
            "단말의 수신 허용 시간이 아니며, 앱이 이러한 메시지를 발신하지 않도록 설정되어 있습니다."
        ),
        (
            "Nothing: the user chose the hours. receivingWindows with outside: delay lets messages wait for them.",
            "조치할 필요가 없습니다. 사용자가 정한 시간입니다. receivingWindows의 outside를 delay로 설정하면 기다렸다가 발신합니다."
        ),
        (
            "The hours in which the device may be notified begin after the message expires, or never.",
            "알림을 받을 수 있는 시간이 시작되기 전에 메시지가 만료되거나, 그 시간이 없습니다."
        ),
        (
            "Give the message a longer ttlSeconds; compare the device's receivingWindow with the app's quietHours.",
            "메시지의 ttlSeconds를 늘리세요. 단말의 수신 허용 시간과 앱의 방해 금지 시간도 비교하세요."
        ),
        (
            "The device has recently received as many messages as the app's frequencyCap allows.",
            "단말이 이미 앱의 발신 횟수 제한만큼 메시지를 받았습니다."
        ),
        (
            "Nothing: this is the purpose of the cap. Urgent and transactional messages are not capped.",
            "조치할 필요가 없습니다. 긴급·거래 메시지는 제한되지 않습니다."
        ),
        (
            "This gateway cannot reach that platform.",
            "이 게이트웨이는 해당 플랫폼으로 발신할 수 없습니다."
        ),
        (
            "Send to iOS devices, or run a version that has a transport for the platform.",
            "iOS 단말로 발신하거나, 해당 플랫폼을 지원하는 버전을 사용하세요."
        ),
        (
            "The content does not fit the push service's limit in that dialect.",
            "내용이 이 형식에서 푸시 서비스의 크기 제한을 넘습니다."
        ),
        (
            "Shorten the text or the data; ?preview=true shows the size per dialect.",
            "본문이나 데이터를 줄이세요. 미리보기에서 형식별 크기를 확인할 수 있습니다."
        ),
        (
            "The SDK on the device cannot show this content.",
            "단말의 SDK가 이 내용을 표시할 수 없습니다."
        ),
        (
            "Send with ?preview=true to see what the dialect refuses.",
            "미리보기에서 어떤 내용이 거절되는지 확인하세요."
        ),
        (
            "The identity uses a dialect that this gateway does not support.",
            "등록 정보가 이 게이트웨이에서 지원하지 않는 형식을 사용합니다."
        ),
        (
            "Run a version with that vendor's adapter, or move the device to another dialect.",
            "해당 벤더를 지원하는 버전을 사용하거나, 단말을 다른 형식으로 옮기세요."
        ),
        (
            "The audience excludes the user, the template aborted the message (abort_message), or the SDK does not show its push type.",
            "대상 조건이 사용자를 제외했거나, 템플릿이 메시지를 중단했거나, SDK가 이 푸시 유형을 표시하지 않습니다."
        ),
        (
            "Nothing: the sender intends this.",
            "조치할 필요가 없습니다. 발신자가 의도한 결과입니다."
        ),
        (
            "The device would drop the payload, so it was not sent.",
            "단말이 버리게 될 페이로드이므로 발신하지 않았습니다."
        ),
        (
            "Fix the raw payload; ?preview=true names the field.",
            "원본 페이로드를 수정하세요. 미리보기에 해당 필드가 표시됩니다."
        ),
        (
            "APNs does not know the token: it is malformed or belongs to the other environment.",
            "APNs가 모르는 토큰입니다. 형식이 잘못되었거나 다른 환경의 토큰입니다."
        ),
        (
            "The token is not used until the app registers again; check that sandbox builds register as sandbox.",
            "앱이 다시 등록하기 전까지 이 토큰은 사용되지 않습니다. 개발용 빌드가 sandbox로 등록하는지 확인하세요."
        ),
        (
            "The token belongs to an app other than that of the topic.",
            "토큰이 토픽의 앱이 아닌 다른 앱의 것입니다."
        ),
        (
            "Check the app's topic (bundle id) in the provisioning file; the token is not used until the app registers again.",
            "앱의 토픽(번들 ID)을 확인하세요. 앱이 다시 등록하기 전까지 이 토큰은 사용되지 않습니다."
        ),
        (
            "The app was removed from the device, or no longer accepts pushes.",
            "단말에서 앱이 삭제되었거나 더 이상 푸시를 받지 않습니다."
        ),
        (
            "Nothing: the token is invalid. It becomes valid when the app registers again.",
            "조치할 필요가 없습니다. 앱을 다시 열면 새 토큰이 등록됩니다."
        ),
        (
            "The device token has expired.",
            "단말 토큰이 만료되었습니다."
        ),
        (
            "Nothing: the app receives a new token and registers it when it runs.",
            "조치할 필요가 없습니다. 앱을 다시 열면 새 토큰이 등록됩니다."
        ),
        (
            "The request named no device token.",
            "요청에 단말 토큰이 없습니다."
        ),
        (
            "This is a gateway bug: report it with the apns-id.",
            "게이트웨이 오류입니다. apns-id와 함께 신고하세요."
        ),
        (
            "The collapse id is longer than 64 bytes.",
            "collapse ID가 64바이트를 넘습니다."
        ),
        (
            "Use a shorter collapseId.",
            "더 짧은 collapseId를 사용하세요."
        ),
        (
            "The expiration is not a time.",
            "만료 시각이 올바르지 않습니다."
        ),
        (
            "The apns-id is not a UUID.",
            "apns-id가 UUID가 아닙니다."
        ),
        (
            "The priority is not 1, 5 or 10, or it is 10 for a background push.",
            "우선순위가 1, 5, 10이 아니거나, 백그라운드 푸시의 우선순위가 10입니다."
        ),
        (
            "Do not mix silent with visible content.",
            "무음 내용과 표시할 내용을 함께 보내지 마세요."
        ),
        (
            "A header occurred twice.",
            "같은 헤더가 두 번 사용되었습니다."
        ),
        (
            "The push type is unknown or does not fit the payload.",
            "푸시 유형을 알 수 없거나 페이로드와 맞지 않습니다."
        ),
        (
            "Check a raw payload: an alert needs visible content, a background push must not have any.",
            "원본 페이로드를 확인하세요. alert에는 표시할 내용이 필요하고, background에는 없어야 합니다."
        ),
        (
            "The request had no payload.",
            "요청에 페이로드가 없습니다."
        ),
        (
            "The payload is above APNs' limit of {} bytes ({} for VoIP).",
            "페이로드가 APNs의 크기 제한을 넘습니다."
        ),
        (
            "Shorten the text or the data; ?preview=true shows the size.",
            "본문이나 데이터를 줄이세요. 미리보기에서 크기를 확인할 수 있습니다."
        ),
        (
            "The request's path was wrong.",
            "요청 경로가 잘못되었습니다."
        ),
        (
            "The request was not a POST.",
            "요청이 POST가 아닙니다."
        ),
        (
            "The topic is malformed.",
            "토픽의 형식이 잘못되었습니다."
        ),
        (
            "Fix the app's topic in the provisioning file and apply it; waiting messages are then sent.",
            "앱의 토픽을 수정하세요. 대기 중인 메시지는 그 후 발신됩니다."
        ),
        (
            "The request named no topic.",
            "요청에 토픽이 없습니다."
        ),
        (
            "Give the app a topic in the provisioning file and apply it.",
            "앱에 토픽을 설정하세요."
        ),
        (
            "The credential may not push to that topic.",
            "이 인증서·키로는 해당 토픽에 발신할 수 없습니다."
        ),
        (
            "Use a key of the app's own team, or one whose topics include it, and apply the file.",
            "앱과 같은 팀의 키이거나 해당 토픽을 포함하는 키를 사용하세요."
        ),
        (
            "APNs refuses the certificate.",
            "APNs가 인증서를 거절합니다."
        ),
        (
            "Provision a valid certificate and apply the file; doctor shows the dates.",
            "유효한 인증서를 등록하세요. 만료일은 인증서·키 페이지에 있습니다."
        ),
        (
            "The certificate belongs to the other environment.",
            "인증서가 다른 환경의 것입니다."
        ),
        (
            "In the app's platforms, enter it under its own environment (production or sandbox), and apply the file.",
            "앱의 platforms에서 해당 환경(production 또는 sandbox)에 지정하세요."
        ),
        (
            "The provider token was older than an hour.",
            "공급자 토큰이 한 시간보다 오래되었습니다."
        ),
        (
            "The gateway renews it automatically; if the error persists, check that the database server's clock is correct.",
            "게이트웨이가 자동으로 갱신합니다. 계속되면 데이터베이스 서버의 시계를 확인하세요."
        ),
        (
            "APNs does not allow the request: the key may have been revoked.",
            "APNs가 요청을 허용하지 않습니다. 키가 폐기되었을 수 있습니다."
        ),
        (
            "Provision a valid key and apply the file.",
            "유효한 키를 등록하세요."
        ),
        (
            "APNs cannot verify the provider token: key, key id and team id do not match.",
            "APNs가 공급자 토큰을 확인할 수 없습니다. 키, 키 ID, 팀 ID가 서로 맞지 않습니다."
        ),
        (
            "Check teamId, keyId and the .p8 file of the credential, and apply the file; waiting messages are then sent.",
            "인증서·키의 팀 ID, 키 ID, .p8 파일을 확인하세요. 대기 중인 메시지는 그 후 발신됩니다."
        ),
        (
            "The request had neither a certificate nor a provider token.",
            "요청에 인증서도 공급자 토큰도 없습니다."
        ),
        (
            "Check the credential's kind and apply the file.",
            "인증서·키의 종류를 확인하세요."
        ),
        (
            "The key does not match the other keys of the connection.",
            "키가 같은 연결의 다른 키와 맞지 않습니다."
        ),
        (
            "The gateway opens another connection automatically; if the error persists, check the key's topics.",
            "게이트웨이가 자동으로 다른 연결을 엽니다. 계속되면 키의 토픽을 확인하세요."
        ),
        (
            "The key belongs to the other environment.",
            "키가 다른 환경의 것입니다."
        ),
        (
            "The provider token changed too often.",
            "공급자 토큰이 너무 자주 변경되었습니다."
        ),
        (
            "Wait: the gateway keeps its present token. Check that no other program signs provider tokens with the same key.",
            "잠시 기다리세요. 같은 키로 공급자 토큰을 만드는 다른 프로그램이 있는지 확인하세요."
        ),
        (
            "The credential does not belong to the channel's app.",
            "인증서·키가 채널의 앱과 맞지 않습니다."
        ),
        (
            "Use a credential of that app and apply the file.",
            "해당 앱의 인증서·키를 사용하세요."
        ),
        (
            "Broadcasts are not enabled for the app.",
            "앱에 브로드캐스트가 켜져 있지 않습니다."
        ),
        (
            "Enable the capability in the developer account.",
            "Apple 개발자 계정에서 기능을 켜세요."
        ),
        (
            "APNs closed the connection because it was idle.",
            "연결이 사용되지 않아 APNs가 닫았습니다."
        ),
        (
            "Nothing: the gateway connects and sends again.",
            "조치할 필요가 없습니다. 게이트웨이가 다시 연결하여 발신합니다."
        ),
        (
            "Too many pushes were sent to this device.",
            "이 단말에 너무 많은 푸시가 발신되었습니다."
        ),
        (
            "Send to it less often, or use a collapseId; the gateway waits and tries again until the message expires.",
            "덜 자주 발신하거나 collapseId를 사용하세요. 메시지가 만료될 때까지 게이트웨이가 다시 시도합니다."
        ),
        (
            "APNs had an internal error.",
            "APNs에 내부 오류가 발생했습니다."
        ),
        (
            "Nothing: the gateway tries again until the message expires.",
            "메시지가 만료될 때까지 게이트웨이가 다시 시도합니다."
        ),
        (
            "APNs is overloaded.",
            "APNs에 부하가 많습니다."
        ),
        (
            "That APNs server is shutting down.",
            "해당 APNs 서버가 종료 중입니다."
        ),
        (
            "Nothing: the gateway connects to another server and sends again.",
            "조치할 필요가 없습니다. 게이트웨이가 다른 서버에 연결하여 발신합니다."
        ),
        (
            "The broadcast named no channel.",
            "브로드캐스트에 채널이 없습니다."
        ),
        (
            "Name the channel.",
            "채널을 지정하세요."
        ),
        (
            "The channel does not exist in that environment.",
            "해당 환경에 채널이 없습니다."
        ),
        (
            "Create the channel again, or check the environment.",
            "채널을 다시 만들거나 환경을 확인하세요."
        ),
        (
            "The channel was deleted.",
            "채널이 삭제되었습니다."
        ),
        (
            "Create the channel again.",
            "채널을 다시 만드세요."
        ),
        (
            "A parameter of the call is wrong.",
            "호출의 매개변수가 잘못되었습니다."
        ),
        (
            "This is a gateway bug: report it with the request id.",
            "게이트웨이 오류입니다. 요청 ID와 함께 신고하세요."
        ),
        (
            "The body of the call is wrong.",
            "호출의 본문이 잘못되었습니다."
        ),
        (
            "The broadcast named no push type.",
            "브로드캐스트에 푸시 유형이 없습니다."
        ),
        (
            "The app has the maximum number of channels.",
            "앱의 채널 수가 최대입니다."
        ),
        (
            "Delete unused channels.",
            "사용하지 않는 채널을 삭제하세요."
        ),
        (
            "The channel's storage policy is missing.",
            "채널의 저장 정책이 없습니다."
        ),
        (
            "Name the storage policy.",
            "저장 정책을 지정하세요."
        ),
    ]
}
