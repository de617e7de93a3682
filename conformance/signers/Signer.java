// Signs as a Java backend without a JSON library does: members in the order of a LinkedHashMap, text by hand,
// base64url with the padding that Java's encoder adds. Reads the job of ../README.md, "Signers".
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Signer {
    public static void main(String[] arguments) throws Exception {
        String[] lines = new String(System.in.readAllBytes(), UTF_8).stripTrailing().split("\n");
        Map<String, String> members = new LinkedHashMap<>();
        for (int i = 1; i < lines.length; i++) {
            String[] member = lines[i].split("\t", 3);
            members.put(member[0], member[1].equals("string") ? quoted(member[2]) : member[2]);
        }
        String text = members.entrySet().stream()
            .map(member -> quoted(member.getKey()) + ":" + member.getValue())
            .collect(Collectors.joining(",", "{", "}"));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(lines[0].getBytes(UTF_8), "HmacSHA256"));
        String signature = HexFormat.of().formatHex(mac.doFinal(text.getBytes(UTF_8)));
        String envelope = "{\"payload\":" + text + ",\"signature\":\"" + signature + "\"}";
        System.out.println(Base64.getUrlEncoder().encodeToString(envelope.getBytes(UTF_8)));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
